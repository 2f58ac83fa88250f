"""What is removed, asked again and made a gold: the forms."""

from typing import Any

from django import forms

from hits.pipeline import rejudge
from hits.pipeline.remove import LONGEST_REASON


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label="Why",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Stays on record, and goes into the manifest of releases.",
    )
    field_order: list[str]


class RemoveForm(ReasonForm):
    image = forms.CharField(
        max_length=200, required=False, label="Image", help_text="Its id in the corpus."
    )
    caption = forms.CharField(
        max_length=200, required=False, label="Caption", help_text="Its id in the corpus."
    )
    field_order = ["image", "caption", "reason"]


class LowForm(forms.Form):
    file = forms.FileField(help_text="A CSV with the columns caption, image and agg_score.")
    below = forms.FloatField(label="Rated below", min_value=0, max_value=5, initial=2.5)


class AgainForm(ReasonForm):
    units = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One a line: the ids of its images and captions as a release has them, "
        "with spaces between them; or its key.",
    )
    more = forms.IntegerField(
        label="More judgments of each",
        min_value=0,
        max_value=rejudge.MOST_WANTED,
        initial=1,
    )
    set_aside = forms.BooleanField(
        required=False,
        label="Set earlier judgments aside",
        help_text="They count no more, stay on record, and are replaced.",
    )
    field_order = ["units", "more", "set_aside", "reason"]

    def clean_units(self) -> list[str]:
        return str(self.cleaned_data["units"]).splitlines()


class OverlapForm(ReasonForm):
    units = forms.IntegerField(
        min_value=1, max_value=rejudge.MOST_AT_ONCE, initial=100, label="Units in the sample"
    )
    judgments = forms.IntegerField(
        min_value=2, max_value=rejudge.MOST_WANTED, initial=3, label="Judgments of each, in all"
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=0, help_text="The same seed draws the same."
    )
    field_order = ["units", "judgments", "seed", "reason"]


class GoldsForm(ReasonForm):
    agreement = forms.FloatField(
        label="Share that agrees",
        min_value=0.51,
        max_value=1,
        initial=1.0,
        help_text="From 0.51 to 1, all of them.",
    )
    field_order = ["agreement", "reason"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["reason"].initial = "People agree on it."
