"""{% alike %} … {% endalike %}: what a page asks in the same words for every question.

A page of twenty questions repeats its choices twenty times, and most of the work of rendering
it lies there. Between these tags a template says nothing but the number `n` of the question,
its draft and its errors; so for questions that have neither, the text is rendered once a page
and numbered afterwards.
"""

from django.template import Context, Library, Node, NodeList
from django.template.base import Parser, Token
from django.utils.safestring import SafeString, mark_safe

register = Library()

NUMBER = "\ue000"


class Alike(Node):
    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        question = context["question"]
        rendered: dict[int, str] | None = context.get("alike")
        if rendered is None or question.draft or question.errors:
            return self.nodelist.render(context)
        if id(self) not in rendered:
            with context.push(n=NUMBER):
                rendered[id(self)] = self.nodelist.render(context)
        numbered = rendered[id(self)].replace(NUMBER, str(question.position))
        return mark_safe(numbered)  # noqa: S308  rendered above, with escaping


@register.tag
def alike(parser: Parser, token: Token) -> Alike:
    nodelist = parser.parse(["endalike"])
    parser.delete_first_token()
    return Alike(nodelist)
