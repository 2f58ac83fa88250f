"""What is done about the work of one worker at a marketplace."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, sent, user_of
from hits.api.channel_serializers import (
    BlockSerializer,
    BonusSerializer,
    ClaimSerializer,
    ExcludeSerializer,
    IntentSerializer,
    MessageSerializer,
    PublicationSerializer,
    SentSerializer,
)
from hits.models import Claim, Intent, Role, Study
from hits.pipeline import calls, pay, people, workers
from hits.pipeline.compensate import compensate


def claim_of(request: Request, pk: int) -> Claim:
    theirs = Study.objects.of(user_of(request), Role.RESEARCHER)
    claims = Claim.objects.filter(hit__publication__study__in=theirs).with_state()
    related = ("account", "assignment", "hit__publication__study")
    return found(claims.select_related(*related), pk=pk)


class ClaimView(APIView):
    @extend_schema(operation_id="claims_retrieve", responses=ClaimSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(ClaimSerializer(claim_of(request, pk)).data)


class ClaimBonus(APIView):
    @extend_schema(
        operation_id="claims_bonus", request=BonusSerializer, responses={201: IntentSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Pay a bonus for this work, once the marketplace has confirmed it."""
        claim = claim_of(request, pk)
        intent = pay.bonus(claim=claim, by=user_of(request), **sent(BonusSerializer, request))
        return Response(IntentSerializer(intent).data, status=status.HTTP_201_CREATED)


def _call_of(request: Request, pk: int) -> Intent:
    theirs = Study.objects.of(user_of(request), Role.RESEARCHER)
    intents = Intent.objects.filter(publication__study__in=theirs)
    return found(intents.select_related("by"), pk=pk)


class CallRepeat(APIView):
    @extend_schema(operation_id="calls_repeat", request=None, responses=IntentSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Make a refused call again, or send a message to those whom it did not reach."""
        intent = calls.repeat(intent=_call_of(request, pk), by=user_of(request))
        return Response(IntentSerializer(intent).data)


class CallDismiss(APIView):
    @extend_schema(operation_id="calls_dismiss", request=None, responses=IntentSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Leave a refused call or an undelivered message as it is."""
        intent = calls.dismiss(intent=_call_of(request, pk))
        return Response(IntentSerializer(intent).data)


class ClaimPay(APIView):
    @extend_schema(operation_id="claims_pay", request=None, responses=ClaimSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Pay work that was confirmed there although no answers came here."""
        pay.pay_stranded(claim=claim_of(request, pk), by=user_of(request))
        return Response(ClaimSerializer(claim_of(request, pk)).data)


class ClaimCompensate(APIView):
    @extend_schema(
        operation_id="claims_compensate", request=None, responses={201: PublicationSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        """A HIT for this worker alone, for work that was saved here and never handed over."""
        made = compensate(claim=claim_of(request, pk), by=user_of(request))
        return Response(PublicationSerializer(made).data, status=status.HTTP_201_CREATED)


class ClaimNotify(APIView):
    @extend_schema(
        operation_id="claims_notify", request=MessageSerializer, responses=SentSerializer
    )
    def post(self, request: Request, pk: int) -> Response:
        """Write to the worker. It is sent once work of theirs is paid or refused: before, no
        marketplace delivers it."""
        claim = claim_of(request, pk)
        workers.notify(
            publication=claim.hit.publication,
            accounts=[claim.account],
            by=user_of(request),
            about=claim,
            **sent(MessageSerializer, request),
        )
        return Response({"workers": 1})


class ClaimBlock(APIView):
    @extend_schema(operation_id="claims_block", request=BlockSerializer, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """Hide all HITs of this requester from the worker, at this marketplace."""
        claim = claim_of(request, pk)
        workers.block(claim=claim, by=user_of(request), **sent(BlockSerializer, request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ClaimUnblock(APIView):
    @extend_schema(operation_id="claims_unblock", request=BlockSerializer, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        claim = claim_of(request, pk)
        reason = sent(BlockSerializer, request)["reason"]
        workers.unblock(claim=claim, reason=reason, by=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ClaimExclude(APIView):
    @extend_schema(operation_id="claims_exclude", request=ExcludeSerializer, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """No more units of the study for this person, on any channel."""
        claim = claim_of(request, pk)
        study = claim.hit.publication.study
        reason = sent(ExcludeSerializer, request)["reason"]
        people.exclude(study=study, account=claim.account, reason=reason, by=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ClaimReadmit(APIView):
    @extend_schema(operation_id="claims_readmit", request=None, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        claim = claim_of(request, pk)
        study = claim.hit.publication.study
        people.readmit(study=study, account=claim.account, by=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
