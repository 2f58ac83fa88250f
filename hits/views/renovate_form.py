"""The form by which machines are asked to make coarse texts finer."""

from typing import Any

from django import forms

from hits.importers.lines import KINDS
from hits.models import Image, Proposal, Study
from hits.pipeline import propose, renovate
from hits.pipeline.errors import PipelineError


def _captioners() -> list[tuple[str, str]]:
    return [("", "none: details come by a file"), *renovate.captioners().items()]


def _scorers() -> list[tuple[str, str]]:
    return list(renovate.scorers().items())


class RenovateForm(forms.Form):
    proposal = forms.ModelChoiceField(
        Proposal.objects.none(),
        required=False,
        label="Coarse texts by",
        empty_label="all that the file names",
        help_text="A text is coarse when the machine ranks another image first for it.",
    )
    captioner = forms.ChoiceField(
        choices=_captioners,
        required=False,
        help_text="Completes the prompts of the paper’s Table 1.",
    )
    file = forms.FileField(
        required=False,
        label="Or details from elsewhere",
        help_text="CSV or JSONL: caption with detail (a sentence to merge) or text (a whole one).",
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(KINDS)}),
    )
    name = forms.CharField(
        max_length=100, required=False, label="What made the file", help_text="Empty: its name."
    )
    version = forms.CharField(max_length=100, initial="1", label="Its version")
    scorer = forms.ChoiceField(
        choices=_scorers,
        help_text="What fits an image less than the original text is left out.",
    )
    train_split = forms.ChoiceField(
        required=False,
        initial="train",
        label="The scorer learns from",
        help_text="Where it learns here.",
    )
    sample = forms.IntegerField(
        min_value=1,
        required=False,
        label="Only so many, at random",
        help_text="To audit first; asked for again without, the others follow.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**62, initial=0)
    queue = forms.ChoiceField(label="Runs on", choices=list(propose.QUEUES.items()), required=False)

    def __init__(self, *args: Any, study: Study, **values: Any) -> None:
        super().__init__(*args, **values)
        self._study = study
        found = renovate.rankings(study.corpus)
        ranking, split = self.fields["proposal"], self.fields["train_split"]
        assert isinstance(ranking, forms.ModelChoiceField)
        assert isinstance(split, forms.ChoiceField)
        ranking.queryset = found
        ranking.initial = newest = found.first()
        names = Image.objects.filter(corpus=study.corpus).order_by("split")
        split.choices = [
            (each, each or "(none)") for each in names.values_list("split", flat=True).distinct()
        ]
        if newest and newest.machine.name in renovate.scorers():
            self.fields["scorer"].initial = newest.machine.name
        self.fields["captioner"].initial = next(iter(renovate.captioners()), "")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        chosen = cleaned.get("proposal")
        cleaned["proposal"] = chosen.pk if chosen else None
        if {"scorer", "captioner", "file"} <= cleaned.keys():
            try:
                renovate.refuse(
                    study=self._study,
                    scorer=cleaned["scorer"],
                    captioner=cleaned["captioner"],
                    has_file=cleaned["file"] is not None,
                    proposal=cleaned["proposal"],
                )
            except PipelineError as refused:
                self.add_error("captioner", refused.message)
        return cleaned
