"""The forms of a researcher; settings and wording come from the protocol's own models."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import FileExtensionValidator
from django.db.models import Count, QuerySet
from django.utils.text import slugify

from hits.channels import configured
from hits.importers.lines import KINDS
from hits.models import Corpus, Image, Proposal, Release, Role, Study
from hits.models.imported import IMPORTED
from hits.models.machines import Direction
from hits.pipeline import propose
from hits.pipeline.arrange import UPLOADS, refuse_reserved
from hits.pipeline.clone import MOST_PILOT_PAGES
from hits.pipeline.errors import Refused
from hits.pipeline.links import LONGEST_HOURS
from hits.pipeline.people import IN_HOUSE
from hits.pipeline.versions import MOST_PAY, TOO_MUCH_PAY
from hits.procedures import procedures
from hits.protocol import protocol

PLAIN = {"invalid": "Use plain letters, digits, hyphens and underscores only."}


class ShortNameField(forms.SlugField):
    def __init__(self, example: str) -> None:
        super().__init__(
            label="Short name",
            max_length=50,
            required=False,
            help_text=f"In addresses and files, such as {example}: letters, digits, hyphens. "
            "Empty: made from the name.",
            error_messages=PLAIN,
        )


def short_name(cleaned: dict[str, Any], what: str) -> str:
    """As typed, or else made from the name; nothing where the name itself is wrong."""
    slug: str = cleaned["slug"] or slugify(cleaned.get("name", ""))[:50].strip("-")
    if not slug and cleaned.get("name"):
        raise forms.ValidationError(f"Give the {what} a short name in plain letters and digits.")
    try:
        refuse_reserved(slug)
    except Refused as refusal:
        raise forms.ValidationError(refusal.message) from None
    return slug


def new_short_name(cleaned: dict[str, Any]) -> str:
    slug = short_name(cleaned, "study")
    if Study.objects.filter(slug=slug).exists():
        raise forms.ValidationError("There is a study with this short name.")
    return slug


class CorpusForm(forms.Form):
    name = forms.CharField(max_length=200)
    slug = ShortNameField("coco-test")
    licence = forms.CharField(
        max_length=200, required=False, help_text="Goes into every release, such as CC BY 4.0."
    )

    def clean_slug(self) -> str:
        slug = short_name(self.cleaned_data, "corpus")
        if Corpus.objects.filter(slug=slug).exists():
            raise forms.ValidationError("There is a corpus with this short name.")
        return slug


class UploadForm(forms.Form):
    file = forms.FileField(
        label="Corpus file",
        help_text="COCO captions or instances JSON, Karpathy-split JSON, CSV or JSONL, or a zip "
        "of one of them with its images. The same file twice changes nothing.",
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(UPLOADS)}),
    )

    split = forms.CharField(
        max_length=40, required=False, help_text="Only for images whose file names no split."
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if not (file.name or "").lower().endswith(UPLOADS):
            raise forms.ValidationError(f"Upload one of {', '.join(UPLOADS)}.")
        return file


def lines_file(label: str, help_text: str) -> forms.FileField:
    return forms.FileField(
        label=label,
        help_text=help_text,
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(KINDS)}),
        validators=[FileExtensionValidator([kind.removeprefix(".") for kind in KINDS])],
    )


class RowsForm(forms.Form):
    file = lines_file("Rows, CSV or JSONL", "The same file twice changes nothing.")


class JudgmentsForm(forms.Form):
    file = lines_file(
        "Judgments, CSV or JSONL",
        "Or the results of a batch as Mechanical Turk gave them out. The same file twice changes "
        "nothing.",
    )
    raise_wanted = forms.BooleanField(
        label="Count all of them",
        required=False,
        help_text="Where there are more than a unit wants, it wants more. Else they are kept "
        "without being counted.",
    )


def _machines() -> list[tuple[str, str]]:
    return [(name, kind.label) for name, kind in propose.machines().items()]


class ProposeForm(forms.Form):
    machine = forms.ChoiceField(
        choices=_machines, help_text="Those that learn here, and models that are installed."
    )
    directions = forms.MultipleChoiceField(
        choices=Direction.choices,
        initial=list(propose.ACROSS),
        help_text="Both between images and captions come from one search.",
    )
    split = forms.ChoiceField(required=False, help_text="Whose items are queries and targets.")
    train_split = forms.ChoiceField(
        required=False, label="Learn from", help_text="The split the machine learns on."
    )
    depth = forms.IntegerField(
        min_value=1, max_value=1000, initial=25, help_text="How many of each ranked list are kept."
    )
    query_sample = forms.IntegerField(
        label="Queries",
        min_value=1,
        max_value=propose.MOST_QUERIES,
        required=False,
        help_text="Empty: all of the split.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**62, initial=0)
    queue = forms.ChoiceField(label="Runs on", choices=list(propose.QUEUES.items()), required=False)
    pool = forms.ModelMultipleChoiceField(
        Proposal.objects.none(),
        required=False,
        label="Proposals to order",
        help_text="For a pair scorer: the candidates that it puts in its own order.",
    )

    def __init__(self, *args: Any, corpus: Corpus, **values: Any) -> None:
        super().__init__(*args, **values)
        self._corpus = corpus
        images = Image.objects.filter(corpus=corpus).order_by("split")
        files = dict(images.values_list("split").annotate(Count("blob")))
        choices = [(split, split or "(none)") for split in files]
        largest = max(files, key=lambda split: files[split], default="")
        for name in ("split", "train_split"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
            field.initial = largest
        if files.get("train"):
            self.fields["train_split"].initial = "train"
        pool = self.fields["pool"]
        assert isinstance(pool, forms.ModelMultipleChoiceField)
        ordered = corpus.proposals.filter(finished_at__isnull=False, direction__in=propose.ACROSS)
        pool.queryset = ordered.select_related("machine").order_by("-pk")
        if not any(kind.scores_pairs for kind in propose.machines().values()):
            del self.fields["pool"]

    def offer(self, directions: Collection[str]) -> None:
        """Only these, for a study that takes no others."""
        field = self.fields["directions"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [each for each in Direction.choices if each[0] in directions]
        field.initial = [each for each in propose.ACROSS if each in directions]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        cleaned["pool"] = [proposal.pk for proposal in cleaned.get("pool") or ()]
        if {"machine", "directions", "split"} <= cleaned.keys():
            asked = {name: cleaned[name] for name in ("machine", "directions", "pool", "split")}
            try:
                propose.refuse(corpus=self._corpus, **asked)
            except Refused as refused:
                self.add_error("directions", str(refused))
        return cleaned


class ProposeFileForm(forms.Form):
    file = forms.FileField(
        label="Vectors, scores or ranked lists",
        help_text="Of a model that ran elsewhere: .npz or .safetensors with image_ids, caption_ids "
        "and image_vectors, caption_vectors or scores; .parquet of id, kind, vector; .npy; or "
        ".jsonl or .csv of ranked lists.",
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(propose.FILES)}),
    )
    ids = forms.FileField(
        label="Ids, for .npy",
        required=False,
        help_text='JSON {"images": [ids], "captions": [ids]}: of rows and columns of scores, or of '
        "rows of vectors, images first.",
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(propose.IDS)}),
    )
    name = forms.CharField(label="Name of the machine", max_length=100)
    version = forms.CharField(max_length=100, initial="1")
    directions = forms.MultipleChoiceField(
        choices=Direction.choices, help_text="Ranked lists have one."
    )
    split = forms.ChoiceField(required=False, help_text="Whose items are queries and targets.")
    similarity = forms.ChoiceField(
        choices=list(propose.SIMILARITIES.items()), help_text="Of vectors."
    )
    depth = forms.IntegerField(min_value=1, max_value=1000, initial=25)

    def __init__(self, *args: Any, corpus: Corpus, **values: Any) -> None:
        super().__init__(*args, **values)
        # Other forms of the page have a split and a depth, too.
        self.auto_id = "id_elsewhere_%s"
        splits = corpus.images.order_by("split").values_list("split", flat=True).distinct()
        field = self.fields["split"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(split, split or "(none)") for split in splits]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if {"file", "directions"} <= cleaned.keys():
            try:
                propose.check_file(
                    name=cleaned["file"].name,
                    directions=cleaned["directions"],
                    has_ids=cleaned.get("ids") is not None,
                )
            except Refused as refused:
                self.add_error("file", str(refused))
        return cleaned


class NewStudyForm(forms.Form):
    name = forms.CharField(max_length=200)
    slug = ShortNameField("matching-i2t")
    corpus = forms.ModelChoiceField(Corpus.objects.none(), empty_label=None)
    procedure = forms.ChoiceField(label="What is asked", widget=forms.RadioSelect)
    split = forms.CharField(
        max_length=40,
        required=False,
        label="Split of the corpus",
        help_text="Where units come straight from the corpus. Empty: all of it.",
    )
    judgments_wanted = forms.IntegerField(
        label="Judgments a unit",
        min_value=1,
        max_value=100,
        required=False,
        help_text="Empty: as many as in the paper that the protocol is from.",
    )
    pay = forms.DecimalField(
        label="Pay a page, in dollars",
        min_value=0,
        max_value=MOST_PAY,
        max_digits=8,
        decimal_places=2,
        required=False,
        help_text="Empty: as in the paper, where it says so, else nothing. A pilot finds out what "
        "a page takes.",
        error_messages={"max_value": TOO_MUCH_PAY},
    )
    expected_minutes = forms.IntegerField(
        label="Minutes a page takes, as you expect",
        min_value=0,
        max_value=24 * 60,
        required=False,
        help_text="Raters see it with the pay until times are measured.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**62, initial=0, help_text="The same seed gives the same order."
    )

    def __init__(self, *args: Any, corpora: QuerySet[Corpus], **values: Any) -> None:
        super().__init__(*args, **values)
        corpus, asked = self.fields["corpus"], self.fields["procedure"]
        assert isinstance(corpus, forms.ModelChoiceField)
        assert isinstance(asked, forms.ChoiceField)
        corpus.queryset = corpora
        asked.choices = [(each.slug, each.name) for each in procedures().values()]

    def clean(self) -> dict[str, Any]:
        """What is left empty is as in the paper."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        chosen = procedures().get(cleaned.pop("procedure", ""))
        if chosen is not None:
            cleaned["protocol_slug"] = chosen.protocol
            cleaned["settings"] = dict(chosen.settings)
            if cleaned.get("pay") is None:
                cleaned["pay"] = chosen.pay
            if cleaned.get("expected_minutes") is None:
                cleaned["expected_minutes"] = chosen.expected_minutes
        return cleaned

    def clean_slug(self) -> str:
        return new_short_name(self.cleaned_data)


class CloneForm(forms.Form):
    name = forms.CharField(max_length=200)
    slug = ShortNameField("matching-again")

    def clean_slug(self) -> str:
        return new_short_name(self.cleaned_data)


class PilotForm(forms.Form):
    pages = forms.IntegerField(
        min_value=1,
        max_value=MOST_PILOT_PAGES,
        initial=10,
        help_text="Ten or more give a median that one can go by; ECCV Caption did 70.",
    )


class WageForm(forms.Form):
    """The pay of a page by the time that a pilot took for one."""

    hourly = forms.DecimalField(
        label="An hour should earn, in dollars",
        min_value=Decimal("0.01"),
        max_value=1000,
        decimal_places=2,
        initial=15,
    )


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
    places = forms.IntegerField(
        min_value=1, max_value=10_000, initial=1, help_text="How many people may use the link."
    )
    days = forms.IntegerField(label="Valid for days", min_value=1, max_value=365, initial=14)


class StudiesField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Study) -> str:
        return f"{obj.name} ({protocol(obj.protocol).name})"


class ReleaseForm(forms.Form):
    name = forms.SlugField(
        max_length=80,
        help_text="Letters, digits, - and _. The same name again makes the next version of it.",
        error_messages=PLAIN,
    )
    licence = forms.CharField(
        max_length=200, required=False, help_text="For example CC BY 4.0. Of what you release."
    )
    free_text = forms.ChoiceField(
        label="Remarks and reported problems",
        required=False,
        choices=Release.FreeText.choices,
        initial=Release.FreeText.KEPT,
    )
    step = forms.ChoiceField(
        label="Version",
        required=False,
        choices=[
            ("", "minor where the same studies have only grown, else major"),
            ("minor", "minor"),
            ("major", "major"),
        ],
    )
    also = StudiesField(
        Study.objects.none(),
        required=False,
        label="Together with",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, others: QuerySet[Study], **values: Any) -> None:
        super().__init__(*args, **values)
        also = self.fields["also"]
        assert isinstance(also, StudiesField)
        also.queryset = others


class LinksForm(forms.Form):
    hours = forms.TypedChoiceField(
        label="For how long",
        coerce=int,
        choices=[(1, "an hour"), (24, "a day"), (LONGEST_HOURS, "a week")],
        initial=24,
    )


class ErasureForm(forms.Form):
    channel = forms.ChoiceField(label="Where they worked")
    identity = forms.CharField(
        label="Who they are there",
        max_length=254,
        help_text="The email of a login here, or the worker id at the marketplace.",
    )

    def __init__(self, *args: Any, **values: Any) -> None:
        super().__init__(*args, **values)
        channel = self.fields["channel"]
        assert isinstance(channel, forms.ChoiceField)
        channel.choices = [
            (IN_HOUSE, "here, with a login"),
            *((name, f"at {name}") for name in configured.names()),
            (IMPORTED, "elsewhere; their judgments were imported"),
        ]
