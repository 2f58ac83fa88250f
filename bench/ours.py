"""How a rater works here, with session and CSRF as a browser has them."""

import json
import re
from itertools import cycle

from bench.people import PASSWORD, login_of
from bench.rater import Failed, NothingLeft, Rater

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
REVISION = re.compile(r'name="revision" value="(\d+)"')
POSITION = re.compile(r'data-position="(\d+)"')
JUSTIFIED = re.compile(r'name="q1-reasons"')
CHOICES = ("yes", "no", "partial_yes", "mostly_no")


class OurRater(Rater):
    async def log_in(self) -> None:
        _, html = await self.ask("login form", "GET", "/login/", expect=200)
        form = {"username": login_of(self.number), "password": PASSWORD, **token(html)}
        await self.ask("login", "POST", "/login/", expect=302, data=form)
        _, html = await self.ask("home", "GET", "/", expect=200)
        self.form = token(html)
        self.choices = cycle(CHOICES[self.number % 4 :] + CHOICES[: self.number % 4])

    async def cycle(self) -> None:
        page, _ = await self.ask(
            "next", "POST", f"/studies/{self.work}/next/", expect=302, data=self.form
        )
        if not page.startswith("/work/"):
            raise NothingLeft
        _, html = await self.ask("page", "GET", page, expect=200)
        self.form = token(html)
        choices = [next(self.choices) for _ in POSITION.findall(html)]
        fields = self.form | _answers(choices, justified=bool(JUSTIFIED.search(html)))
        revision = REVISION.search(html)
        assert revision is not None
        as_script = {"Accept": "application/json"}
        _, saved = await self.ask(
            *("save", "POST", f"{page}save"),
            expect=200,
            data=fields | {"revision": revision[1]},
            headers=as_script,
        )
        fields["revision"] = str(json.loads(saved)["revision"])
        _, receipt = await self.ask(
            "submit", "POST", f"{page}submit", expect=200, data=fields, headers=as_script
        )
        key = json.loads(receipt)["receipt"]
        if key != page.split("/")[2]:
            self.seen.fail("another receipt", receipt)
            raise Failed
        self.seen.acknowledged[key] = choices


def token(html: str) -> dict[str, str]:
    found = TOKEN.search(html)
    assert found is not None, "The page has no form."
    return {"csrfmiddlewaretoken": found[1]}


def _answers(choices: list[str], *, justified: bool) -> dict[str, str]:
    """The page's form as the browser sends it."""
    fields = {"device": "keyboard", "view": "one"}
    for position, choice in enumerate(choices, start=1):
        name = f"q{position}"
        fields |= {f"{name}-choice": choice, f"{name}-ms": "4200", f"{name}-problem": ""}
        if justified:
            fields[f"{name}-other"] = ""
            if choice in {"partial_yes", "mostly_no"}:
                fields |= {f"{name}-reasons": "wrong", f"{name}-errors": "quantity"}
    return fields
