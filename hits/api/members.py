"""Who belongs to a study in which role, and the links that invite others."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, study_of, user_of
from hits.api.lists import Listing
from hits.api.study_serializers import (
    InvitationSerializer,
    MemberSerializer,
    NewInvitationSerializer,
    NewMemberSerializer,
)
from hits.models import Invitation, Membership, Role, User
from hits.pipeline import arrange
from hits.pipeline.errors import Refused


class MemberList(mixins.ListModelMixin, Listing):
    queryset = Membership.objects.none()
    serializer_class = MemberSerializer
    filters = {"role": ("role", serializers.ChoiceField(Role.choices))}

    def get_queryset(self) -> QuerySet[Membership]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.memberships.select_related("user")

    @extend_schema(operation_id="studies_members_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_members_create",
        request=NewMemberSerializer,
        responses={201: MemberSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Let somebody in who has a login; others are invited by a link."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = NewMemberSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        email, role = sent.validated_data["email"], sent.validated_data["role"]
        user = User.objects.filter(email__iexact=email, is_active=True).first()
        if user is None:
            raise Refused("There is no login with this address. Send an invitation.")
        member, _ = Membership.objects.get_or_create(study=study, user=user, role=role)
        return Response(MemberSerializer(member).data, status=status.HTTP_201_CREATED)


class MemberView(APIView):
    @extend_schema(operation_id="studies_members_destroy", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """End a membership; what the person did stays."""
        study = study_of(request, slug, Role.RESEARCHER)
        arrange.end_membership(found(study.memberships.all(), pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationList(mixins.ListModelMixin, Listing):
    queryset = Invitation.objects.none()
    serializer_class = InvitationSerializer
    order = ("-pk",)
    filters = {"role": ("role", serializers.ChoiceField(Role.choices))}

    def get_queryset(self) -> QuerySet[Invitation]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.invitations.select_related("created_by")

    @extend_schema(operation_id="studies_invitations_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_invitations_create",
        request=NewInvitationSerializer,
        responses={201: InvitationSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        study = study_of(request, slug, Role.RESEARCHER)
        sent = NewInvitationSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        made = arrange.invite(study=study, by=user_of(request), **sent.validated_data)
        return Response(InvitationSerializer(made).data, status=status.HTTP_201_CREATED)


class InvitationView(APIView):
    @extend_schema(operation_id="studies_invitations_revoke", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """End an invitation; who joined by it stays."""
        study = study_of(request, slug, Role.RESEARCHER)
        arrange.end_invitation(found(study.invitations.all(), pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)
