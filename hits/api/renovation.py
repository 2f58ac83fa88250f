"""Coarse texts made finer by machines, as rows of a study."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api import throttles
from hits.api.access import study_of, user_of
from hits.api.jobs import JobSerializer
from hits.api.parsing import SoundJSONParser
from hits.models import Role, Study
from hits.pipeline.renovate import ask_with_upload


class RenovateSerializer(serializers.Serializer[Any]):
    proposal = serializers.IntegerField(
        min_value=1,
        max_value=2**62,
        allow_null=True,
        default=None,
        help_text="Caption to image: texts whose own image is not first are coarse.",
    )
    captioner = serializers.CharField(max_length=200, default="", allow_blank=True)
    file = serializers.FileField(
        max_length=200,
        default=None,
        help_text="Instead of a captioner, CSV or JSONL: caption with detail or text.",
    )
    name = serializers.CharField(
        max_length=100, default="", allow_blank=True, help_text="Of what made the file."
    )
    version = serializers.CharField(max_length=100, default="1")
    scorer = serializers.CharField(max_length=200, help_text="One of /api/machines/offered/.")
    train_split = serializers.CharField(max_length=40, default="train", allow_blank=True)
    sample = serializers.IntegerField(
        min_value=1, allow_null=True, default=None, help_text="Only so many, at random."
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**62, default=0)
    queue = serializers.ChoiceField(
        ["", "cpu", "gpu"], default="", help_text="Empty: as the machines need."
    )


class StudyRenovate(generics.GenericAPIView[Study]):
    serializer_class = RenovateSerializer
    parser_classes = [MultiPartParser, SoundJSONParser]
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="studies_renovate", responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Let machines find coarse texts and make them finer, as rows of a study of renovation."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = RenovateSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        job = ask_with_upload(study=study, by=user_of(request), **sent.validated_data)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
