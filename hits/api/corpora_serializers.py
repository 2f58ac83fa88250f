import re
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from rest_framework import serializers

from hits.models import Caption, Corpus, Image, Machine, Proposal
from hits.models.machines import Direction
from hits.pipeline import propose
from hits.pipeline.errors import Refused

LARGEST_UPLOAD = 4 * 1024**3
IN_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[^\x00-\x1f]{0,900}")


class CorpusSerializer(serializers.ModelSerializer[Corpus]):
    class Meta:
        model = Corpus
        fields = ["slug", "name", "licence", "created_at"]
        read_only_fields = ["created_at"]


class CorpusWithCountsSerializer(CorpusSerializer):
    images = serializers.IntegerField(read_only=True)
    images_with_file = serializers.IntegerField(read_only=True)
    captions = serializers.IntegerField(read_only=True)
    regions = serializers.IntegerField(read_only=True)
    splits = serializers.DictField(
        child=serializers.IntegerField(), read_only=True, help_text="Images in each split."
    )

    class Meta(CorpusSerializer.Meta):
        fields = [
            *CorpusSerializer.Meta.fields,
            "images", "images_with_file", "captions", "regions", "splits",
        ]  # fmt: skip
        read_only_fields = fields


class ImageSerializer(serializers.ModelSerializer[Image]):
    url = serializers.SerializerMethodField()

    class Meta:
        model = Image
        fields = ["external_id", "file_name", "split", "width", "height", "url"]
        read_only_fields = fields

    def get_url(self, image: Image) -> str | None:
        if image.blob_id is None:
            return None
        return str(self.context["request"].build_absolute_uri(f"/images/{image.blob_id}"))


class CaptionSerializer(serializers.ModelSerializer[Caption]):
    image = serializers.SlugRelatedField[Image](slug_field="external_id", read_only=True)

    class Meta:
        model = Caption
        fields = ["external_id", "image", "text"]
        read_only_fields = fields


class SourceSerializer(serializers.Serializer[Any]):
    """A file to upload, or a place in a bucket; never a path on the server."""

    file = serializers.FileField(required=False, max_length=200)
    source = serializers.CharField(  # type: ignore[assignment]  # a field of this name
        required=False, max_length=1000, help_text="s3://bucket/key"
    )

    def validate_source(self, source: str) -> str:
        if not IN_BUCKET.fullmatch(source):
            raise serializers.ValidationError("Name a bucket and a key: s3://bucket/key")
        return source

    def validate_file(self, file: UploadedFile) -> UploadedFile:
        if (file.size or 0) > LARGEST_UPLOAD:
            raise serializers.ValidationError("This file is too large: put it into a bucket.")
        return file

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("file" in attrs) == ("source" in attrs):
            raise serializers.ValidationError("Send a file or name a source, and not both.")
        return attrs


class ImportSerializer(SourceSerializer):
    split = serializers.CharField(
        max_length=40, default="", allow_blank=True, help_text="Of images that name none."
    )


class MachineSerializer(serializers.ModelSerializer[Machine]):
    settings = serializers.DictField(read_only=True)

    class Meta:
        model = Machine
        fields = ["id", "name", "version", "kind", "checksum", "settings", "created_at"]
        read_only_fields = fields


class ProposalSerializer(serializers.ModelSerializer[Proposal]):
    machine = serializers.StringRelatedField[Machine]()

    class Meta:
        model = Proposal
        fields = [
            "id", "machine", "direction", "split", "depth", "queries", "query_sample", "seed",
            "created_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class ProposeFileSerializer(serializers.Serializer[Any]):
    """Vectors or scores (.npz, .safetensors, .npy), vectors (.parquet) or ranked lists (.jsonl,
    .csv) from elsewhere."""

    file = serializers.FileField(max_length=200)
    ids = serializers.FileField(
        max_length=200,
        default=None,
        help_text='For .npy: JSON {"images": [ids], "captions": [ids]}.',
    )
    name = serializers.CharField(max_length=100)
    version = serializers.CharField(max_length=100, default="1")
    directions = serializers.ListField(
        child=serializers.ChoiceField(Direction.values), min_length=1, max_length=4
    )
    split = serializers.CharField(max_length=40, default="test", allow_blank=True)
    similarity = serializers.ChoiceField(
        list(propose.SIMILARITIES.items()), default="cosine", help_text="Of vectors."
    )
    depth = serializers.IntegerField(min_value=1, max_value=1000, default=25)
    query_sample = serializers.IntegerField(
        min_value=1,
        max_value=propose.MOST_QUERIES,
        allow_null=True,
        default=None,
        help_text="Of vectors.",
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**62, default=0)

    def validate_file(self, file: UploadedFile) -> UploadedFile:
        if (file.size or 0) > LARGEST_UPLOAD:
            raise serializers.ValidationError("This file is too large: use the command.")
        return file

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            propose.check_file(
                name=attrs["file"].name,
                directions=attrs["directions"],
                has_ids=attrs["ids"] is not None,
            )
        except Refused as refused:
            raise serializers.ValidationError({"file": str(refused)}) from None
        return attrs


class ProposeSerializer(serializers.Serializer[Any]):
    machine = serializers.CharField(max_length=200, help_text="One of /api/machines/offered/.")
    directions = serializers.ListField(
        child=serializers.ChoiceField(Direction.values), min_length=1, max_length=4
    )
    split = serializers.CharField(max_length=40, default="test", allow_blank=True)
    train_split = serializers.CharField(
        max_length=40, default="train", allow_blank=True, help_text="What the machine learns from."
    )
    depth = serializers.IntegerField(min_value=1, max_value=1000, default=25)
    query_sample = serializers.IntegerField(
        min_value=1, max_value=propose.MOST_QUERIES, allow_null=True, default=None
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**62, default=0)
    pool = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**62),
        default=list,
        max_length=100,
        help_text="Proposals whose candidates a pair scorer puts in order.",
    )
    queue = serializers.ChoiceField(
        ["", "cpu", "gpu"], default="", help_text="Empty: as the machine needs."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        asked = {name: attrs[name] for name in ("machine", "directions", "pool")}
        try:
            propose.check(**asked)
        except Refused as refused:
            raise serializers.ValidationError({"directions": str(refused)}) from None
        return attrs


class OfferedMachineSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name
    directions = serializers.ListField(child=serializers.ChoiceField(Direction.values))
    learns = serializers.BooleanField(help_text="From the captions and images of a split.")
    scores_pairs = serializers.BooleanField(help_text="It orders what others proposed.")
    completes_texts = serializers.BooleanField(help_text="It makes coarse texts finer.")
