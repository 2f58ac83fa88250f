"""Tokens, who one is, and joining a study by an invitation."""

from typing import Any

from django.contrib.auth import authenticate
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import user_of
from hits.models import Membership, User
from hits.pipeline import people


class LogInSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=254, help_text="The email address.")
    password = serializers.CharField(max_length=1000, trim_whitespace=False)


class MembershipSerializer(serializers.ModelSerializer[Membership]):
    study = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = Membership
        fields = ["study", "role"]
        read_only_fields = fields


class MeSerializer(serializers.ModelSerializer[User]):
    is_admin = serializers.BooleanField(source="is_staff", read_only=True)
    memberships = MembershipSerializer(many=True, read_only=True)

    class Meta:
        model = User
        fields = ["username", "first_name", "is_researcher", "is_admin", "memberships"]
        read_only_fields = fields


class JoinSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(max_length=40)


class RegisterSerializer(JoinSerializer):
    name = serializers.CharField(max_length=150)
    email = serializers.EmailField()
    password = serializers.CharField(max_length=200, trim_whitespace=False)


TokenSerializer = inline_serializer("Token", {"token": serializers.CharField()})


class TokenView(APIView):
    throttle_classes = [throttles.LogIn]

    def get_permissions(self) -> list[Any]:
        return [AllowAny()] if self.request.method == "POST" else [IsAuthenticated()]

    @extend_schema(
        operation_id="token_create", request=LogInSerializer, responses=TokenSerializer, auth=[]
    )
    def post(self, request: Request) -> Response:
        sent = LogInSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        token, _ = Token.objects.get_or_create(user=_log_in(request, **sent.validated_data))
        return Response({"token": token.key})

    @extend_schema(operation_id="token_destroy", responses={204: None})
    def delete(self, request: Request) -> Response:
        Token.objects.filter(user=user_of(request)).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _log_in(request: Request, *, username: str, password: str) -> User:
    django_request = request._request
    user = authenticate(django_request, username=username.strip().lower(), password=password)
    if getattr(django_request, "axes_locked_out", False):
        # Its middleware would answer with a page in place of JSON.
        django_request.axes_locked_out = False  # type: ignore[attr-defined]
        raise Throttled(detail="Too many failed attempts. Try again in a quarter of an hour.")
    if not isinstance(user, User):
        raise AuthenticationFailed("This address and password do not fit together.")
    return user


class MeView(APIView):
    @extend_schema(operation_id="me_retrieve", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        me = User.objects.prefetch_related("memberships__study").get(pk=user_of(request).pk)
        return Response(MeSerializer(me).data)


class JoinView(APIView):
    @extend_schema(
        operation_id="join",
        request=JoinSerializer,
        responses=MembershipSerializer,
    )
    def post(self, request: Request) -> Response:
        """Join a study by the token of an invitation; a second time changes nothing."""
        sent = JoinSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        joined = people.join(token=sent.validated_data["token"], user=user_of(request))
        return Response(MembershipSerializer(joined).data)


class RegisterView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = [throttles.LogIn]

    @extend_schema(
        operation_id="register", request=RegisterSerializer, responses={201: TokenSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a login for somebody new who has an invitation."""
        sent = RegisterSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        token = Token.objects.create(user=people.accept_invitation(**sent.validated_data))
        return Response({"token": token.key}, status=status.HTTP_201_CREATED)
