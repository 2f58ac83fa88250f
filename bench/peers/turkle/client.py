"""How a rater works in Turkle: accept the next task, its page, the frame in it, submit."""

import re
from itertools import cycle

from bench.ours import CHOICES, token
from bench.people import PASSWORD, login_of
from bench.rater import Failed, NothingLeft, Rater

TASK = re.compile(r"/task/(\d+)/assignment/(\d+)/")


class TurkleRater(Rater):
    async def log_in(self) -> None:
        _, html = await self.ask("login form", "GET", "/login/", expect=200)
        form = {"username": login_of(self.number), "password": PASSWORD, **token(html)}
        await self.ask("login", "POST", "/login/", expect=302, data=form)
        self.choices = cycle(CHOICES)

    async def cycle(self) -> None:
        accept = f"/batch/{self.work}/accept_next_task/"
        page, _ = await self.ask("accept next", "GET", accept, expect=302)
        task = TASK.match(page)
        if task is None:
            raise NothingLeft
        await self.ask("page", "GET", page, expect=200)
        frame = f"/task/{task[1]}/assignment/iframe/{task[2]}/"
        _, html = await self.ask("frame", "GET", frame, expect=200)
        choice = next(self.choices)
        form = token(html) | {"choice": choice, "problem": ""}
        leads_to, _ = await self.ask("submit", "POST", page, expect=302, data=form)
        if leads_to != accept:
            self.seen.fail("not accepted", leads_to)
            raise Failed
        self.seen.acknowledged[task[2]] = [choice]
