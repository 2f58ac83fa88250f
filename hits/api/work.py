"""A rater's work: agree, take a page, save it, submit it or give it back."""

from dataclasses import asdict, is_dataclass
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, user_of
from hits.api.lists import Listing
from hits.api.work_serializers import (
    AgreeSerializer,
    AssignmentSerializer,
    DraftSerializer,
    FeedbackSerializer,
    InformationSerializer,
    PageSerializer,
    ReceiptSerializer,
    SavedSerializer,
    SubmissionSerializer,
    TermsSerializer,
    WorkSerializer,
)
from hits.models import Account, Assignment, Participation, Role, Study
from hits.pipeline import people
from hits.pipeline.draw import draw
from hits.pipeline.errors import Stale
from hits.pipeline.feedback import feedback_on
from hits.pipeline.own_work import own_pages
from hits.pipeline.show import page_of
from hits.pipeline.submit import give_back, save_draft, submit
from hits.pipeline.terms import terms_of
from hits.protocol import protocol
from hits.records import ImageShown


def _studies(request: Request) -> QuerySet[Study]:
    """The studies this person rates in, once they have been opened."""
    mine = Study.objects.of(user_of(request), Role.RATER).select_related("version")
    return mine.exclude(state=Study.State.DRAFT)


def _account(request: Request) -> Account:
    return people.account_of(user_of(request))


def _own(request: Request) -> QuerySet[Assignment]:
    return Assignment.objects.filter(account__user=user_of(request))


class WorkList(mixins.ListModelMixin, Listing):
    queryset = Study.objects.none()
    serializer_class = WorkSerializer
    order = ("slug",)

    def get_queryset(self) -> QuerySet[Study]:
        own = Participation.objects.filter(person_id=_account(self.request).person_id)
        return _studies(self.request).prefetch_related(
            Prefetch("participations", queryset=own, to_attr="own_participation")
        )

    @extend_schema(operation_id="work_list")
    def get(self, request: Request) -> Response:
        """The studies one may work on, and one's own progress in them."""
        return self.list(request)


class ConsentView(APIView):
    @extend_schema(operation_id="work_information", responses=InformationSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_information(found(_studies(request), slug=slug), _account(request)))

    @extend_schema(
        operation_id="work_consent", request=AgreeSerializer, responses=InformationSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """Agree to the information of a study, by the number of the version that was read."""
        study = found(_studies(request), slug=slug)
        sent = AgreeSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        assert study.version is not None
        if sent.validated_data["version"] != study.version.number:
            raise Stale("The information has changed. Read it again.")
        people.give_consent(study=study, account=_account(request))
        return Response(_information(study, _account(request)))

    @extend_schema(operation_id="work_withdraw", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Withdraw: no more pages; what was submitted stays, what is open goes back."""
        people.withdraw(study=found(_studies(request), slug=slug), account=_account(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _information(study: Study, account: Account) -> dict[str, Any]:
    assert study.version is not None
    taking_part = Participation.objects.filter(study=study, person_id=account.person_id).first()
    return {
        "study": study.slug,
        "study_name": study.name,
        "information": study.version.information,
        "terms": TermsSerializer(terms_of(study, study.version)).data,
        "version": study.version.number,
        "has_agreed": taking_part is not None and taking_part.has_agreed_to(study.version),
    }


class NextPage(APIView):
    @extend_schema(operation_id="work_next", request=None, responses=PageSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """The page that is open, or else a new one."""
        study = found(_studies(request), slug=slug)
        assignment = draw(study=study, account=_account(request))
        assignment.study = study
        return Response(_page(request, assignment))


class AssignmentList(mixins.ListModelMixin, Listing):
    queryset = Assignment.objects.none()
    serializer_class = AssignmentSerializer
    order = ("-pk",)
    filters = {
        "state": ("state", serializers.ChoiceField(Assignment.State.choices)),
        "study": ("study__slug", serializers.SlugField()),
    }

    def get_queryset(self) -> QuerySet[Assignment]:
        return own_pages(user_of(self.request))

    @extend_schema(operation_id="assignments_list")
    def get(self, request: Request) -> Response:
        """The pages one has had, and what was decided on paying them."""
        return self.list(request)


class AssignmentView(APIView):
    @extend_schema(operation_id="assignments_retrieve", responses=PageSerializer)
    def get(self, request: Request, key: UUID) -> Response:
        own = _own(request).select_related("study", "version")
        return Response(_page(request, found(own, key=key)))


class AssignmentDraft(APIView):
    @extend_schema(
        operation_id="assignments_save", request=DraftSerializer, responses=SavedSerializer
    )
    def put(self, request: Request, key: UUID) -> Response:
        """Save the answers so far, in place of those saved before."""
        sent = DraftSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        saved = save_draft(
            assignment_key=found(_own(request), key=key).key,
            account=_account(request),
            fields=sent.validated_data["answers"],
            revision=sent.validated_data["revision"],
        )
        return Response(SavedSerializer(saved).data)


class AssignmentSubmit(APIView):
    @extend_schema(
        operation_id="assignments_submit", request=SubmissionSerializer, responses=ReceiptSerializer
    )
    def post(self, request: Request, key: UUID) -> Response:
        """Submit the answers; sent again it gives the same receipt. Answers that differ from
        newer ones, saved since the revision that is named, are refused."""
        sent = SubmissionSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        receipt = submit(
            assignment_key=found(_own(request), key=key).key,
            account=_account(request),
            fields={
                **sent.validated_data["answers"],
                "device": [sent.validated_data.get("device", "")],
            },
            revision=sent.validated_data["revision"],
        )
        return Response(ReceiptSerializer(receipt).data)


class AssignmentFeedback(APIView):
    @extend_schema(operation_id="assignments_feedback", responses=FeedbackSerializer)
    def get(self, request: Request, key: UUID) -> Response:
        """What was right on a training page of one's own, once it is submitted."""
        own = _own(request).select_related("study__version", "version")
        feedback = feedback_on(found(own, key=key))
        if feedback is None:
            raise Http404
        return Response(FeedbackSerializer(feedback).data)


class AssignmentReturn(APIView):
    @extend_schema(operation_id="assignments_return", request=None, responses={204: None})
    def post(self, request: Request, key: UUID) -> Response:
        """Give a page back; its answers stay on record and do not count."""
        own = found(_own(request), key=key)
        give_back(assignment_key=own.key, account=_account(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _page(request: Request, assignment: Assignment) -> dict[str, Any]:
    page = page_of(assignment)
    # How pages are composed and checked is not the rater's to know.
    shown_settings = set(protocol(assignment.study.protocol).shown_settings)
    return dict(
        PageSerializer(
            {
                "key": page.key,
                "study": page.study_slug,
                "study_name": page.study_name,
                "state": assignment.state,
                "is_training": page.is_training,
                "pay": page.pay,
                "terms": page.terms,
                "lease_until": page.lease_until,
                "revision": page.revision,
                "saved_at": page.saved_at,
                "wording": page.wording.model_dump(),
                "settings": page.settings.model_dump(include=shown_settings),
                "options": page.form,
                "questions": [
                    {"position": question.position, "shown": plain(request, question.shown)}
                    for question in page.questions
                ],
                "answers": assignment.draft,
            }
        ).data
    )


def plain(request: Request, shown: Any) -> Any:
    """What a protocol shows, with images by whole addresses."""
    if isinstance(shown, ImageShown):
        return {**asdict(shown), "url": request.build_absolute_uri(shown.url)}
    if isinstance(shown, dict):
        return {name: plain(request, value) for name, value in shown.items()}
    if isinstance(shown, list | tuple):
        return [plain(request, value) for value in shown]
    return asdict(shown) if is_dataclass(shown) and not isinstance(shown, type) else shown
