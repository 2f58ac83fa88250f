from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.contrib.auth.password_validation import (
    password_validators_help_text_html,
    validate_password,
)
from django.http import HttpRequest

from hits.models import User


class LoginForm(AuthenticationForm):
    """The user name is the email address, in lower case."""

    username = UsernameField(
        label="Email",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    error_messages = {
        "invalid_login": "This email and password do not belong together. Try again, or set a "
        "new password.",
        "inactive": "This login has been closed.",
    }

    def __init__(self, request: HttpRequest | None = None, **values: object) -> None:
        super().__init__(request, **values)
        self.fields["password"].widget.attrs["autocomplete"] = "current-password"

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).lower()


class JoinForm(forms.Form):
    name = forms.CharField(max_length=150, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(
        label="Email",
        max_length=150,
        help_text="You log in with it. We write only about your work here.",
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        strip=False,
        help_text=password_validators_help_text_html(),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> None:
        super().clean()
        password = self.cleaned_data.get("password")
        if password:
            self._check(password)

    def _check(self, password: str) -> None:
        email = self.cleaned_data.get("email", "")
        user = User(username=email, email=email, first_name=self.cleaned_data.get("name", ""))
        try:
            validate_password(password, user)
        except forms.ValidationError as wrong:
            self.add_error("password", wrong)
