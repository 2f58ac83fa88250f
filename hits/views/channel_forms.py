"""The forms of publishing a study, and of what is done about one worker."""

import re
from decimal import Decimal
from typing import Any

from django import forms

from hits.models import ClaimState, Study
from hits.pipeline.offer import (
    COUNTRY,
    requirement_of,
    unknown_countries,
    what_cannot_be_shown,
)

LONGEST_TEXT = 4096
MOST_PAGES = 100_000


class QualificationsField(forms.CharField):
    """Qualifications of the marketplace, one a line."""

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in str(value or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def validate(self, value: Any) -> None:
        super().validate(value)
        if wrong := [line for line in value if requirement_of(line) is None]:
            raise forms.ValidationError(
                f"{', '.join(wrong)}: write the id of a qualification, alone, with ! before it, or "
                "with a score behind it, such as >= 80."
            )

    def run_validators(self, value: Any) -> None:
        super().run_validators("\n".join(value))

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value


class CountriesField(forms.CharField):
    """Codes of two letters, apart by commas or spaces."""

    def to_python(self, value: Any) -> Any:
        codes = re.split(r"[\s,;]+", str(value or "").strip().upper())
        return list(dict.fromkeys(code for code in codes if code))

    def validate(self, value: Any) -> None:
        super().validate(value)
        wrong = [code for code in value if not re.match(COUNTRY, code)]
        if wrong:
            raise forms.ValidationError(
                f"{', '.join(wrong)}: write each country with its two letters, such as US, GB, IN."
            )
        if unknown := unknown_countries(value):
            raise forms.ValidationError(f"{', '.join(unknown)}: there is no such country.")

    def run_validators(self, value: Any) -> None:
        super().run_validators(" ".join(value))

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


def shown_in_a_line(text: str) -> None:
    if why := what_cannot_be_shown(text):
        raise forms.ValidationError(why)


def shown_in_lines(text: str) -> None:
    if why := what_cannot_be_shown(text, in_lines=True):
        raise forms.ValidationError(why)


def not_more_than(most: int, pages: int) -> int:
    if pages > most:
        raise forms.ValidationError(
            f"There is work for {most:,} more page{'' if most == 1 else 's'}, not for {pages:,}."
        )
    return pages


class PublishForm(forms.Form):
    title = forms.CharField(
        max_length=128,
        validators=[shown_in_a_line],
        help_text="What workers see in the list of HITs.",
    )
    description = forms.CharField(
        max_length=2000,
        validators=[shown_in_lines],
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What they will do, how many questions, and about how long it takes.",
    )
    keywords = forms.CharField(
        max_length=1000,
        required=False,
        validators=[shown_in_a_line],
        help_text="By which workers find it, apart by commas.",
    )
    reward = forms.DecimalField(
        label="Reward a page, in dollars", min_value=Decimal("0.01"), max_digits=8, decimal_places=2
    )
    least_wage = forms.DecimalField(
        label="Least hourly wage, in dollars",
        min_value=0,
        max_digits=8,
        decimal_places=2,
        required=False,
        help_text="You are warned when an hour earns less at the pace that people work.",
    )
    pages = forms.IntegerField(
        label="Pages to publish",
        min_value=1,
        max_value=MOST_PAGES,
        help_text="Each is one HIT for one worker. Filled in: all that are wanting.",
    )
    minutes = forms.IntegerField(
        label="Minutes to do a page",
        min_value=1,
        max_value=365 * 24 * 60,
        help_text="After that the page goes to somebody else. Be generous.",
    )
    days = forms.IntegerField(label="Days it stays", min_value=1, max_value=365, initial=7)
    approval_days = forms.IntegerField(
        label="Days until it is approved by itself",
        min_value=1,
        max_value=30,
        initial=7,
        help_text="Work that nobody has decided on is paid by the marketplace after this time.",
    )
    approved_hits = forms.IntegerField(
        label="Approved HITs at least",
        min_value=0,
        max_value=1_000_000,
        required=False,
        help_text="What a worker must have done before. Empty: anybody.",
    )
    approval_rate = forms.IntegerField(
        label="Approval rate at least, in percent",
        min_value=0,
        max_value=100,
        required=False,
        help_text="Share of a worker’s HITs that were approved. Empty: any.",
    )
    countries = CountriesField(
        max_length=400,
        required=False,
        help_text="Where workers may be, such as US, GB, IN. Empty: anywhere.",
    )
    qualifications = QualificationsField(
        label="Qualifications",
        max_length=700,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Of the marketplace, by their ids, one a line: 3ABC for who has it, !3ABC for "
        "who has not, 3ABC >= 80 for a score, masters for Masters (a higher fee). Empty: none.",
    )

    def __init__(self, *args: Any, study: Study, most: int, **values: Any) -> None:
        super().__init__(*args, **values)
        assert study.version is not None
        self.most = most
        self.fields["title"].initial = study.name[:128]
        self.fields["reward"].initial = study.version.pay or None
        self.fields["minutes"].initial = study.version.lease_minutes
        self.fields["pages"].initial = most or None

    def clean_pages(self) -> int:
        return not_more_than(self.most, self.cleaned_data["pages"])

    def offer_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("title", "description", "keywords")]

    def money_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("reward", "least_wage", "pages")]

    def time_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("minutes", "days", "approval_days")]

    def worker_fields(self) -> list[forms.BoundField]:
        return [
            self[name] for name in ("approved_hits", "approval_rate", "countries", "qualifications")
        ]


class TopUpForm(forms.Form):
    pages = forms.IntegerField(label="How many more", min_value=1, max_value=MOST_PAGES)

    def __init__(self, *args: Any, most: int, **values: Any) -> None:
        super().__init__(*args, **values)
        self.most = most
        self.fields["pages"].initial = most or None

    def clean_pages(self) -> int:
        return not_more_than(self.most, self.cleaned_data["pages"])


class CloseForm(forms.Form):
    state = forms.CharField(widget=forms.HiddenInput)


class BonusForm(forms.Form):
    amount = forms.DecimalField(
        label="Bonus, in dollars",
        min_value=Decimal("0.01"),
        max_value=10_000,
        max_digits=8,
        decimal_places=2,
    )
    reason = forms.CharField(
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The worker reads it.",
    )


class MessageForm(forms.Form):
    subject = forms.CharField(max_length=200)
    text = forms.CharField(max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 6}))


class MessageToManyForm(MessageForm):
    state = forms.ChoiceField(
        label="To workers whose work is",
        required=False,
        choices=[("", "anything: all of them"), *ClaimState.choices],
    )
    field_order = ("state", "subject", "text")


class BlockForm(forms.Form):
    reason = forms.CharField(
        label="Why?",
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The marketplace keeps it; the worker does not read it.",
    )


class ExcludeForm(forms.Form):
    reason = forms.CharField(
        label="Why?",
        max_length=200,
        help_text="Stays on record, and the worker can read it on their page here.",
    )
