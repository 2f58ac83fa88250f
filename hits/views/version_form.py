"""The form of a study's version; settings and wording come from the protocol's own models."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from annotated_types import Ge, Le
from django import forms
from django.forms.fields import InvalidJSONInput
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hits.analysis.signals.settings import QualitySettings
from hits.models import Study, StudyVersion
from hits.pipeline.plainly import sentence_of
from hits.pipeline.versions import MOST_PAY, TOO_MUCH_PAY
from hits.procedures import Procedure, nearest
from hits.protocol import protocol

LONG = 60
SPARE = 2
RULES = (
    "most_units_a_person", "most_units_a_day", "training_units", "training_accuracy",
    "training_attempts",
)  # fmt: skip
PLAIN = ("pay", "expected_minutes", "lease_minutes", "judgments_wanted", "information", *RULES)
ZERO_IF_EMPTY = ("expected_minutes", "most_units_a_person", "most_units_a_day", "training_units")
PARTS = ("settings", "wording", "quality")


class IndentedJson(forms.JSONField):
    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list, such as a worked example, with the fields of it."""

    legend: str
    fields: list[forms.BoundField]
    is_spare: bool


class VersionForm(forms.Form):
    """Everything of a version as fields, taken from the protocol's settings and wording."""

    pay = forms.DecimalField(
        label="Pay a page, in dollars",
        min_value=0,
        max_value=MOST_PAY,
        max_digits=8,
        decimal_places=2,
        help_text="Such as 0.65. Raters see it with the time a page takes and the wage.",
        error_messages={"max_value": TOO_MUCH_PAY},
    )
    expected_minutes = forms.IntegerField(
        label="Minutes a page takes, as you expect",
        min_value=0,
        max_value=24 * 60,
        required=False,
        help_text="Raters see it until times are measured, then the median. Empty: not known.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes for a page",
        min_value=1,
        max_value=365 * 24 * 60,
        help_text="A page that is not submitted by then goes to others. Such as 60.",
    )
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)
    judgments_wanted = forms.IntegerField(label="Judgments a unit", min_value=1, max_value=100)
    information = forms.CharField(
        label="Information for consent",
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What people agree to. When it changes, everybody is asked again.",
    )
    most_units_a_person = forms.IntegerField(
        label="Most units for one person",
        min_value=0,
        max_value=10**6,
        required=False,
        help_text="In the whole study, golds not counted. The last page is shorter where it must "
        "be. Empty: no limit.",
    )
    most_units_a_day = forms.IntegerField(
        label="Most units for one person in a day",
        min_value=0,
        max_value=10**6,
        required=False,
        help_text="From midnight to midnight UTC, golds not counted. Empty: no limit.",
    )
    training_units = forms.IntegerField(
        label="Questions on a training page",
        min_value=0,
        max_value=100,
        required=False,
        help_text="Golds that everybody answers before their first page. They then see what is "
        "right, and are never asked these golds again. Empty: no training.",
    )
    training_accuracy = forms.IntegerField(
        label="Right answers to qualify, in percent",
        min_value=1,
        max_value=100,
        help_text="Of a training page. Who qualified stays qualified when this changes.",
    )
    training_attempts = forms.IntegerField(
        label="Tries",
        min_value=1,
        max_value=20,
        help_text="Training pages, each with other golds, as far as there are some. You can let "
        "somebody in by hand on the tab People.",
    )

    def __init__(self, *args: Any, study: Study, version: StudyVersion, **values: Any) -> None:
        self.models = models_of(study)
        super().__init__(*args, **values)
        self.fields["seen"].initial = version.number
        for name in PLAIN:
            self.fields[name].initial = getattr(version, name)
        for name in ZERO_IF_EMPTY:
            self.fields[name].initial = getattr(version, name) or None
        if study.state != Study.State.DRAFT:
            self.fields["judgments_wanted"].disabled = True
            self.fields[
                "judgments_wanted"
            ].help_text = "Set when the units were made. “Curation” asks for more."
        for part, model in self.models.items():
            given = model.model_validate(getattr(version, part)).model_dump()
            for name, info in model.model_fields.items():
                self.fields |= dict(_fields(f"{part}.{name}", info, given[name]))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for part, model in self.models.items():
            if any(name.startswith(f"{part}.") for name in self.errors):
                continue
            gathered = {
                name: self._gathered(f"{part}.{name}", info)
                for name, info in model.model_fields.items()
            }
            if any(name.startswith(f"{part}.") for name in self.errors):
                continue
            try:
                cleaned[part] = model.model_validate(gathered).model_dump()
            except ValidationError as wrong:
                for error in wrong.errors():
                    self._add(part, error["loc"], sentence_of(error))
        return cleaned

    def changes(self) -> dict[str, Any]:
        changes = {name: self.cleaned_data[name] for name in (*PLAIN, *PARTS)}
        return changes | {name: changes[name] or 0 for name in ZERO_IF_EMPTY}

    def version_fields(self) -> list[forms.BoundField]:
        hidden = {*RULES, "seen"}
        return [self[name] for name in self.fields if "." not in name and name not in hidden]

    def rules_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in RULES]

    def settings_fields(self) -> list[forms.BoundField]:
        return self._single("settings")

    def wording_fields(self) -> list[forms.BoundField]:
        return self._single("wording")

    def quality_fields(self) -> list[forms.BoundField]:
        return self._single("quality")

    @property
    def has_quality_errors(self) -> bool:
        return any(name.startswith("quality.") for name in self.errors)

    def lists(self) -> list[tuple[str, str, list[Entry]]]:
        """What there may be any number of: what it is, what it is for, and the entries."""
        return [
            (
                title_of(name, info),
                info.description or "",
                self._entries(f"{part}.{name}", info, entry),
            )
            for part, name, info, entry in self._list_fields()
        ]

    def _single(self, part: str) -> list[forms.BoundField]:
        listed = tuple(f"{where}.{name}." for where, name, *_ in self._list_fields())
        names = [name for name in self.fields if name.startswith(f"{part}.")]
        return [self[name] for name in names if not name.startswith(listed)]

    def _list_fields(self) -> Iterator[tuple[str, str, FieldInfo, type[BaseModel]]]:
        for part, model in self.models.items():
            for name, info in model.model_fields.items():
                if entry := _entry_model(info):
                    yield part, name, info, entry

    def _entries(self, name: str, info: FieldInfo, entry: type[BaseModel]) -> list[Entry]:
        found = []
        for number in self._numbers(name):
            fields = [self[f"{name}.{number}.{inner}"] for inner in entry.model_fields]
            is_spare = not any(field.value() or field.errors for field in fields)
            found.append(Entry(f"{title_of(name, info)} {number + 1}", fields, is_spare))
        return found

    def _numbers(self, name: str) -> list[int]:
        own = [field.removeprefix(f"{name}.") for field in self.fields if field.startswith(name)]
        return sorted({int(field.split(".")[0]) for field in own})

    def _gathered(self, name: str, info: FieldInfo) -> Any:
        if name in self.fields:
            return self.cleaned_data.get(name)
        if entry := _entry_model(info):
            return [found for n in self._numbers(name) if (found := self._entry(name, n, entry))]
        inner = [field for field in self.fields if field.startswith(f"{name}.")]
        return {field.removeprefix(f"{name}."): self.cleaned_data.get(field) for field in inner}

    def _entry(self, name: str, number: int, entry: type[BaseModel]) -> dict[str, str]:
        """The entry as typed; nothing where all of it is empty, which leaves it out."""
        names = {inner: f"{name}.{number}.{inner}" for inner in entry.model_fields}
        typed = {inner: self.cleaned_data.get(field) or "" for inner, field in names.items()}
        if not any(typed.values()):
            return {}
        for inner, info in entry.model_fields.items():
            if info.is_required() and not typed[inner]:
                self.add_error(names[inner], "Fill this in, or empty all of it to leave it out.")
        return typed

    def _add(self, part: str, place: tuple[int | str, ...], message: str) -> None:
        for depth in (2, 1):
            name = ".".join([part, *map(str, place[:depth])])
            if name in self.fields:
                where = ".".join(map(str, place[depth:]))
                self.add_error(name, f"{where}: {message}" if where else message)
                return
        self.add_error(None, f"{part}: {message}")


def models_of(study: Study) -> dict[str, type[BaseModel]]:
    kind = protocol(study.protocol)
    return {
        "settings": kind.settings_model,
        "wording": kind.wording_model,
        "quality": QualitySettings,
    }


def labels_of(study: Study) -> dict[str, str]:
    """What the form calls each thing of a version."""
    labels = {name: str(VersionForm.base_fields[name].label) for name in PLAIN}
    for model in models_of(study).values():
        labels |= {name: title_of(name, info) for name, info in model.model_fields.items()}
    return labels


def as_in_paper(study: Study) -> tuple[Procedure, list[str]]:
    """The study of a paper that this one is most like, and what is different here."""
    version = study.version
    assert version is not None
    like, labels = nearest(study.protocol, version.settings), labels_of(study)
    changed = [labels[name] for name in like.changed(version.settings)]
    if version.judgments_wanted != like.judgments_wanted:
        changed.append(labels["judgments_wanted"])
    if like.pay and version.pay != like.pay:
        changed.append(labels["pay"])
    return like, changed


def title_of(name: str, info: FieldInfo) -> str:
    return info.title or name.split(".")[-1].replace("_", " ").capitalize()


def _entry_model(info: FieldInfo) -> type[BaseModel] | None:
    """The model of a list's entries, where all their fields are texts."""
    for inner in get_args(info.annotation):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            texts = all(each.annotation is str for each in inner.model_fields.values())
            return inner if texts else None
    return None


def _fields(name: str, info: FieldInfo, value: Any) -> Iterator[tuple[str, forms.Field]]:
    """One field for a plain value, several for a mapping or a list, JSON for the rest."""
    if entry := _entry_model(info):
        for number in range(len(value) + SPARE):
            given = value[number] if number < len(value) else {}
            for inner, each in entry.model_fields.items():
                text = given.get(inner, "")
                field = _named(_text_field(text, required=False), inner, each, text)
                yield f"{name}.{number}.{inner}", field
    elif isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        # The database keeps no order of keys; the protocol's own is the one people know.
        known = info.default if isinstance(info.default, dict) else {}
        for inner in [each for each in dict.fromkeys([*known, *value]) if each in value]:
            field = _named(_text_field(value[inner]), name, info, value[inner])
            field.label = f"{field.label}: {inner.replace('_', ' ')}"
            yield f"{name}.{inner}", field
    else:
        yield name, _named(_plain_field(info, value), name, info, value)


def _named(field: forms.Field, name: str, info: FieldInfo, value: Any) -> forms.Field:
    such_as = f"Such as: {info.examples[0]}" if info.examples else ""
    field.label = title_of(name, info)
    field.help_text = " ".join(filter(None, [info.description, such_as, str(field.help_text)]))
    field.initial = value
    return field


def _plain_field(info: FieldInfo, value: Any) -> forms.Field:
    least = next((each.ge for each in info.metadata if isinstance(each, Ge)), None)
    most = next((each.le for each in info.metadata if isinstance(each, Le)), None)
    bounds: dict[str, Any] = {"min_value": least, "max_value": most}
    if isinstance(value, bool):
        return forms.BooleanField(required=False)
    if isinstance(value, int):
        between = f"{least} to {most}." if least is not None and most is not None else ""
        return forms.IntegerField(help_text=between, **bounds)
    if isinstance(value, float):
        return forms.FloatField(**bounds)
    if isinstance(value, str):
        return _text_field(value)
    widget = forms.Textarea(attrs={"rows": 12, "class": "code", "spellcheck": "false"})
    return IndentedJson(widget=widget, required=False, help_text="As JSON.")


def _text_field(value: str, *, required: bool = True) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 3}) if len(value) > LONG else forms.TextInput()
    return forms.CharField(widget=widget, max_length=5000, strip=True, required=required)
