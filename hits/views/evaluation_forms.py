"""The form of an evaluation, made from what its kind asks for."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from hits.analysis.evaluations.contract import FILES, Kind, Setting, Upload
from hits.models import ReleaseFile
from hits.pipeline.errors import Refused
from hits.pipeline.evaluate import RELEASED, settings_of, why_not


class EvaluationForm(forms.Form):
    name = forms.CharField(
        max_length=120, required=False, help_text="To find it again. Empty: what is computed."
    )

    def __init__(
        self, *args: Any, kind: Kind, released: Mapping[str, list[ReleaseFile]], **values: Any
    ) -> None:
        super().__init__(*args, **values)
        self.kind = kind
        self.files_of_releases = {
            str(file.pk): file for found in released.values() for file in found
        }
        for upload in kind.uploads:
            self.fields[upload.name] = _file_field(upload)
            if found := released.get(upload.name):
                self.fields[upload.name + RELEASED] = _released_field(upload, found)
        for setting in kind.settings:
            self.fields[setting.name] = _setting_field(setting)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for upload in self.kind.uploads:
            if upload.name not in self.errors and (why := self._why_not(upload)):
                self.add_error(upload.name, why)
        if not self.errors:
            try:
                self.chosen_settings = settings_of(self.kind, cleaned)
            except Refused as refusal:
                self.add_error(None, refusal.message)
        return cleaned

    def _why_not(self, upload: Upload) -> str:
        file, released = self._file(upload), self._released(upload)
        if file and released:
            return "Upload a file or take one of a release, not both."
        return why_not(upload, file or released)

    def _file(self, upload: Upload) -> UploadedFile | None:
        return self.cleaned_data.get(upload.name) or None

    def _released(self, upload: Upload) -> ReleaseFile | None:
        return self.files_of_releases.get(self.cleaned_data.get(upload.name + RELEASED, ""))

    @property
    def sent(self) -> dict[str, UploadedFile | ReleaseFile]:
        found = {
            upload.name: self._file(upload) or self._released(upload)
            for upload in self.kind.uploads
        }
        return {name: file for name, file in found.items() if file is not None}


def _file_field(upload: Upload) -> forms.FileField:
    return forms.FileField(
        label=upload.label if upload.required else f"{upload.label} (if there is one)",
        help_text=upload.help,
        required=False,
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(FILES[upload.form])}),
    )


def _released_field(upload: Upload, found: list[ReleaseFile]) -> forms.ChoiceField:
    choices = [("", "none"), *((str(file.pk), f"{file.release}: {file.name}") for file in found)]
    return forms.ChoiceField(
        label=f"{upload.label}, from a release here", choices=choices, required=False
    )


def _setting_field(setting: Setting) -> forms.Field:
    common: dict[str, Any] = {
        "label": setting.label,
        "help_text": setting.help,
        "initial": setting.default,
        "required": False,
    }
    if setting.options is not None:
        return forms.ChoiceField(choices=list(setting.options.items()), **common)
    if isinstance(setting.default, bool):
        return forms.BooleanField(**common)
    if isinstance(setting.default, int):
        return forms.IntegerField(min_value=setting.low, max_value=setting.high, **common)
    return forms.CharField(max_length=1000, **common)
