from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.validators import RegexValidator

from hits.marketplace.models import Worker
from hits.marketplace.site.offers import SORTS


class Login(forms.Form):
    name = forms.CharField(
        label="Name or worker id",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )


class Registration(forms.Form):
    name = forms.CharField(
        max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        help_text="At least 10 characters.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    country = forms.CharField(
        help_text="Its two letters: US, GB, IN, KR …",
        validators=[RegexValidator(r"\A[A-Z]{2}\Z", "Write the two letters of your country.")],
        widget=forms.TextInput(attrs={"autocomplete": "country", "maxlength": "2"}),
    )
    subdivision = forms.CharField(
        label="State",
        required=False,
        help_text="In the United States: its two letters. Some HITs ask for it.",
        validators=[RegexValidator(r"\A[A-Z]{2}\Z", "Write the two letters of your state.")],
        widget=forms.TextInput(attrs={"autocomplete": "address-level1", "maxlength": "2"}),
    )

    def __init__(self, data: dict[str, str] | None = None) -> None:
        places = ("country", "subdivision")
        if data is not None:
            data = {k: v.strip().upper() if k in places else v for k, v in data.items()}
        super().__init__(data)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Worker.objects.filter(name=name).exists():
            raise forms.ValidationError("Somebody has this name already. Choose another one.")
        return name

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password


class Search(forms.Form):
    q = forms.CharField(label="Search", required=False, max_length=100)
    sort = forms.ChoiceField(label="Order", required=False, choices=list(SORTS.items()))
    qualified = forms.BooleanField(label="Only what I can accept", required=False)
