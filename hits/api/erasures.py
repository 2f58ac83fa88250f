"""Erasing people on their request: for admins, and on record."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.permissions import IsAdminUser, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.access import user_of
from hits.api.lists import Listing
from hits.models import Erasure
from hits.pipeline import erase


class ErasureSerializer(serializers.ModelSerializer[Erasure]):
    by = serializers.StringRelatedField[Any]()
    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = Erasure
        fields = ["id", "person", "by", "at", "counts"]
        read_only_fields = fields


class NewErasureSerializer(serializers.Serializer[Any]):
    channel = serializers.CharField(
        max_length=20, help_text="in_house, import, or the name of a marketplace."
    )
    identity = serializers.CharField(
        max_length=254, help_text="The email of a login, or the id at the marketplace."
    )


class ErasureList(mixins.ListModelMixin, Listing):
    queryset = Erasure.objects.select_related("by")
    serializer_class = ErasureSerializer
    permission_classes = [IsAuthenticated, IsAdminUser]
    order = ("-pk",)

    @extend_schema(operation_id="erasures_list")
    def get(self, request: Request) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="erasures_create",
        request=NewErasureSerializer,
        responses={201: ErasureSerializer},
    )
    def post(self, request: Request) -> Response:
        """Destroy what says who a person is and all that they wrote. It cannot be undone."""
        sent = NewErasureSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        made = erase.erase(person=erase.find(**sent.validated_data), by=user_of(request))
        made.refresh_from_db()
        return Response(ErasureSerializer(made).data, status=status.HTTP_201_CREATED)
