"""Corpora: their images and captions, imports, and what machines proposed on them."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, mixins, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import IsResearching, MayCreate, found, user_of
from hits.api.corpora_serializers import (
    CaptionSerializer,
    CorpusSerializer,
    CorpusWithCountsSerializer,
    ImageSerializer,
    ImportSerializer,
    MachineSerializer,
    OfferedMachineSerializer,
    ProposalSerializer,
    ProposeFileSerializer,
    ProposeSerializer,
)
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.api.parsing import SoundJSONParser
from hits.models import Caption, Corpus, Image, Machine, Proposal
from hits.pipeline import arrange, jobs, propose, renovate, visible


class CorpusList(mixins.ListModelMixin, Listing):
    queryset = Corpus.objects.none()
    serializer_class = CorpusSerializer
    permission_classes = [IsAuthenticated, MayCreate]
    order = ("slug",)

    def get_queryset(self) -> QuerySet[Corpus]:
        return visible.corpora(user_of(self.request))

    @extend_schema(operation_id="corpora_list")
    def get(self, request: Request) -> Response:
        return self.list(request)

    @extend_schema(operation_id="corpora_create", responses={201: CorpusSerializer})
    def post(self, request: Request) -> Response:
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        made = arrange.create_corpus(by=user_of(request), **_with_licence(sent.validated_data))
        return Response(CorpusSerializer(made).data, status=status.HTTP_201_CREATED)


def _with_licence(sent: dict[str, Any]) -> dict[str, Any]:
    return {"licence": "", **sent}


class CorpusView(generics.GenericAPIView[Corpus]):
    serializer_class = CorpusWithCountsSerializer

    @extend_schema(operation_id="corpora_retrieve")
    def get(self, request: Request, slug: str) -> Response:
        corpus = found(visible.corpora(user_of(request)), slug=slug)
        return Response({**CorpusSerializer(corpus).data, **_counts(corpus)})


def _counts(corpus: Corpus) -> dict[str, Any]:
    splits = list(
        corpus.images.values_list("split")
        .annotate(images=Count("pk"), with_file=Count("pk", filter=Q(blob__isnull=False)))
        .order_by("split")
    )
    return {
        "images": sum(images for _, images, _ in splits),
        "images_with_file": sum(with_file for _, _, with_file in splits),
        "captions": corpus.captions.count(),
        "regions": corpus.regions.count(),
        "splits": {split: images for split, images, _ in splits},
    }


class OfCorpus(mixins.ListModelMixin, Listing):
    """A list of what one corpus has."""

    def corpus(self) -> Corpus:
        return found(visible.corpora(user_of(self.request)), slug=self.kwargs["slug"])


class ImageList(OfCorpus):
    queryset = Image.objects.none()
    serializer_class = ImageSerializer
    filters = {
        "split": ("split", serializers.CharField(allow_blank=True, max_length=40)),
        "external_id": ("external_id", serializers.CharField(max_length=200)),
        "file_name": ("file_name", serializers.CharField(max_length=500)),
    }

    def get_queryset(self) -> QuerySet[Image]:
        return self.corpus().images.all()

    @extend_schema(operation_id="corpora_images_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)


class CaptionList(OfCorpus):
    queryset = Caption.objects.none()
    serializer_class = CaptionSerializer
    filters = {
        "external_id": ("external_id", serializers.CharField(max_length=200)),
        "image": ("image__external_id", serializers.CharField(max_length=200)),
    }

    def get_queryset(self) -> QuerySet[Caption]:
        return self.corpus().captions.select_related("image")

    @extend_schema(operation_id="corpora_captions_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)


class ProposalList(OfCorpus):
    queryset = Proposal.objects.none()
    serializer_class = ProposalSerializer
    filters = {
        "direction": ("direction", serializers.ChoiceField(["i2t", "t2i", "i2i", "t2t"])),
        "split": ("split", serializers.CharField(allow_blank=True, max_length=40)),
    }

    def get_queryset(self) -> QuerySet[Proposal]:
        return self.corpus().proposals.select_related("machine")

    @extend_schema(operation_id="corpora_proposals_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)


class MachineList(mixins.ListModelMixin, Listing):
    queryset = Machine.objects.all()
    serializer_class = MachineSerializer
    permission_classes = [IsAuthenticated, IsResearching]

    @extend_schema(operation_id="machines_list")
    def get(self, request: Request) -> Response:
        return self.list(request)


class OfferedMachineList(APIView):
    """What can be asked: machines that learn here, and models that are installed."""

    permission_classes = [IsAuthenticated, IsResearching]

    @extend_schema(
        operation_id="machines_offered_list", responses=OfferedMachineSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        captioner = propose.Kind("captioner", directions=(), is_large=True)
        offered = [
            {"name": name, **kind._asdict(), "completes_texts": kind is captioner}
            for name, kind in [
                *propose.machines().items(),
                *((name, captioner) for name in renovate.captioners()),
            ]
        ]
        return Response(OfferedMachineSerializer(offered, many=True).data)


class CorpusImport(generics.GenericAPIView[Corpus]):
    serializer_class = ImportSerializer
    parser_classes = [MultiPartParser, SoundJSONParser]
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="corpora_import", responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Import a file or a bucket into a corpus of one's own."""
        user = user_of(request)
        own = visible.corpora(user) if user.is_staff else user.corpora.all()
        corpus = found(own, slug=slug)
        sent = ImportSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        job = jobs.ask(
            kind="import",
            arguments={
                "corpus": corpus.slug,
                **source_of(sent.validated_data, arrange.UPLOADS),
                "split": sent.validated_data["split"],
            },
            by=user,
            corpus=corpus,
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


def source_of(sent: dict[str, Any], kinds: Sequence[str]) -> dict[str, str]:
    """Where a job finds what was sent, and what it is called."""
    if sent.get("source"):
        return {"source": sent["source"]}
    file = sent["file"]
    return {"source": str(arrange.keep_upload(file, kinds)), "called": arrange.name_of_upload(file)}


class CorpusPropose(generics.GenericAPIView[Corpus]):
    serializer_class = ProposeSerializer
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="corpora_propose", responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Let a machine rank the items of a corpus."""
        corpus = found(visible.corpora(user_of(request)), slug=slug)
        sent = ProposeSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        job = propose.ask(corpus=corpus, by=user_of(request), **sent.validated_data)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class CorpusProposeFile(generics.GenericAPIView[Corpus]):
    serializer_class = ProposeFileSerializer
    parser_classes = [MultiPartParser]
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="corpora_propose_file", responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Let a machine that ran elsewhere propose, by its vectors or its ranked lists."""
        corpus = found(visible.corpora(user_of(request)), slug=slug)
        sent = ProposeFileSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        job = propose.ask_with_file(corpus=corpus, by=user_of(request), **sent.validated_data)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
