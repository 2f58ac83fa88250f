"""What of a form has to be put right."""

from django import forms, template

register = template.Library()


@register.filter
def wrong_fields(form: forms.Form) -> list[forms.BoundField]:
    return [form[name] for name in form.errors if name in form.fields]
