"""The forms of a researcher; settings and wording come from the protocol's own models."""

import json
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, QuerySet
from django.forms.fields import InvalidJSONInput
from django.utils.text import slugify
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hits.models import Corpus, Image, Role, Study, StudyVersion
from hits.models.machines import Direction
from hits.pipeline.arrange import UPLOADS
from hits.protocol import protocol, registry

LONG = 60
DIRECTIONS = [
    (each.value, each.label) for each in (Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE)
]


class IndentedJson(forms.JSONField):
    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)


class ShortNameField(forms.SlugField):
    def __init__(self, example: str) -> None:
        super().__init__(
            max_length=50,
            required=False,
            help_text=f"Short name in addresses and files, such as {example}: letters, digits, "
            "hyphens. Empty: made from the name.",
        )


def short_name(cleaned: dict[str, Any], what: str) -> str:
    """As typed, or else made from the name; nothing where the name itself is wrong."""
    slug: str = cleaned["slug"] or slugify(cleaned.get("name", ""))[:50].strip("-")
    if not slug and cleaned.get("name"):
        raise forms.ValidationError(f"Give the {what} a short name in plain letters and digits.")
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


class ProposeForm(forms.Form):
    machine = forms.ChoiceField(
        choices=[("palette", "Palette (colours)"), ("layout", "Layout (colours and places)")]
    )
    direction = forms.ChoiceField(choices=DIRECTIONS)
    split = forms.ChoiceField(required=False, help_text="Whose items are queries and targets.")
    train_split = forms.ChoiceField(
        required=False, label="Learn from", help_text="The split the machine learns on."
    )
    depth = forms.IntegerField(
        min_value=1, max_value=1000, initial=25, help_text="How many of each ranked list are kept."
    )
    query_sample = forms.IntegerField(
        label="Queries", min_value=1, required=False, help_text="Empty: all of the split."
    )
    seed = forms.IntegerField(min_value=0, max_value=2**62, initial=0)

    def __init__(self, *args: Any, corpus: Corpus, **values: Any) -> None:
        super().__init__(*args, **values)
        images = Image.objects.filter(corpus=corpus).order_by("split")
        files = dict(images.values_list("split").annotate(Count("blob")))
        choices = [(split, split or "(none)") for split in files]
        largest = max(files, key=lambda split: files[split], default="")
        for name in ("split", "train_split"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
            field.initial = largest


class NewStudyForm(forms.Form):
    name = forms.CharField(max_length=200)
    slug = ShortNameField("matching-i2t")
    corpus = forms.ModelChoiceField(Corpus.objects.none(), empty_label=None)
    protocol = forms.ChoiceField()
    judgments_wanted = forms.IntegerField(
        label="Judgments a unit", min_value=1, max_value=100, initial=1
    )
    pay = forms.DecimalField(
        label="Pay a page, in dollars", min_value=0, max_digits=8, decimal_places=2, initial="0.65"
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**62, initial=0, help_text="The same seed gives the same order."
    )

    def __init__(self, *args: Any, corpora: QuerySet[Corpus], **values: Any) -> None:
        super().__init__(*args, **values)
        corpus, kinds = self.fields["corpus"], self.fields["protocol"]
        assert isinstance(corpus, forms.ModelChoiceField)
        assert isinstance(kinds, forms.ChoiceField)
        corpus.queryset = corpora
        kinds.choices = [(slug, kind.name) for slug, kind in sorted(registry().items())]

    def clean_slug(self) -> str:
        slug = short_name(self.cleaned_data, "study")
        if Study.objects.filter(slug=slug).exists():
            raise forms.ValidationError("There is a study with this short name.")
        return slug


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
    places = forms.IntegerField(
        min_value=1, max_value=10_000, initial=1, help_text="How many people may use the link."
    )
    days = forms.IntegerField(label="Valid for days", min_value=1, max_value=365, initial=14)


class ReleaseForm(forms.Form):
    name = forms.SlugField(
        max_length=80,
        help_text="Letters, digits and hyphens. The same name again makes the next number of it.",
    )
    also = forms.ModelMultipleChoiceField(
        Study.objects.none(),
        required=False,
        label="Together with",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, others: QuerySet[Study], **values: Any) -> None:
        super().__init__(*args, **values)
        also = self.fields["also"]
        assert isinstance(also, forms.ModelMultipleChoiceField)
        also.queryset = others


class VersionForm(forms.Form):
    """Everything of a version as fields, taken from the protocol's settings and wording."""

    pay = forms.DecimalField(
        label="Pay a page, in dollars", min_value=0, max_digits=8, decimal_places=2
    )
    lease_minutes = forms.IntegerField(
        label="Minutes for a page",
        min_value=1,
        max_value=365 * 24 * 60,
        help_text="A page that is not submitted by then goes to others.",
    )
    judgments_wanted = forms.IntegerField(label="Judgments a unit", min_value=1, max_value=100)
    information = forms.CharField(
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What people agree to. When it changes, everybody is asked again.",
    )

    def __init__(self, *args: Any, study: Study, version: StudyVersion, **values: Any) -> None:
        self.kind = protocol(study.protocol)
        self.parts = {"settings": self.kind.settings_model, "wording": self.kind.wording_model}
        super().__init__(*args, **values)
        for name in ("pay", "lease_minutes", "judgments_wanted", "information"):
            self.fields[name].initial = getattr(version, name)
        if study.state != Study.State.DRAFT:
            self.fields["judgments_wanted"].disabled = True
            self.fields["judgments_wanted"].help_text = "Set when the units were made."
        for part, model in self.parts.items():
            given = model.model_validate(getattr(version, part)).model_dump()
            for name, info in model.model_fields.items():
                self.fields |= _fields(f"{part}.{name}", info, given[name])

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for part, model in self.parts.items():
            if any(name.startswith(f"{part}.") for name in self.errors):
                continue
            try:
                cleaned[part] = model.model_validate(self._gathered(part, model)).model_dump()
            except ValidationError as wrong:
                for error in wrong.errors():
                    self._add(part, error["loc"], error["msg"])
        return cleaned

    def changes(self) -> dict[str, Any]:
        names = ["pay", "lease_minutes", "judgments_wanted", "information", "settings", "wording"]
        return {name: self.cleaned_data[name] for name in names}

    def bound(self, prefix: str) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(prefix)]

    def version_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if "." not in name]

    def settings_fields(self) -> list[forms.BoundField]:
        return self.bound("settings.")

    def wording_fields(self) -> list[forms.BoundField]:
        return self.bound("wording.")

    def _gathered(self, part: str, model: type[BaseModel]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in model.model_fields:
            whole = f"{part}.{name}"
            if whole in self.fields:
                found[name] = self.cleaned_data.get(whole)
            else:
                inner = [field for field in self.fields if field.startswith(f"{whole}.")]
                found[name] = {
                    field.removeprefix(f"{whole}."): self.cleaned_data.get(field) for field in inner
                }
        return found

    def _add(self, part: str, place: tuple[int | str, ...], message: str) -> None:
        for depth in (2, 1):
            name = ".".join([part, *map(str, place[:depth])])
            if name in self.fields:
                where = ".".join(map(str, place[depth:]))
                self.add_error(name, f"{where}: {message}" if where else message)
                return
        self.add_error(None, f"{part}: {message}")


def _fields(name: str, info: FieldInfo, value: Any) -> dict[str, forms.Field]:
    """One field for a plain value, one for each entry of a mapping, JSON for the rest."""
    label = name.split(".")[-1].replace("_", " ").capitalize()
    help_text = info.description or ""
    if isinstance(value, bool):
        made: forms.Field = forms.BooleanField(required=False)
    elif isinstance(value, int):
        made = forms.IntegerField()
    elif isinstance(value, float):
        made = forms.FloatField()
    elif isinstance(value, str):
        made = _text_field(value)
    elif isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        # The database keeps no order of keys; the protocol's own is the one people know.
        known = info.default if isinstance(info.default, dict) else {}
        ordered = {inner: value[inner] for inner in [*known, *value] if inner in value}
        return {f"{name}.{inner}": _entry(label, inner, ordered[inner]) for inner in ordered}
    else:
        widget = forms.Textarea(attrs={"rows": 12, "class": "code", "spellcheck": "false"})
        made = IndentedJson(widget=widget, required=False)
        help_text = help_text or "As JSON."
    made.label, made.help_text, made.initial = label, help_text, value
    return {name: made}


def _entry(label: str, inner: str, text: str) -> forms.Field:
    made = _text_field(text)
    made.label, made.initial = f"{label}: {inner.replace('_', ' ')}", text
    return made


def _text_field(value: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 3}) if len(value) > LONG else forms.TextInput()
    return forms.CharField(widget=widget, max_length=5000, strip=True)
