"""A rater as the load generator plays one: own connection, own cookies."""

import time
from collections import Counter, defaultdict
from typing import Any

import aiohttp


class Failed(Exception):
    """A step was answered in a way that a rater would see as an error."""


class NothingLeft(Exception):
    pass


class Seen:
    """What all raters saw in one run."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.bytes: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.first_errors: list[str] = []
        self.acknowledged: dict[str, list[str]] = {}
        self.cycles = 0
        self.reconnections = 0

    def fail(self, what: str, detail: str) -> None:
        self.errors[what] += 1
        if len(self.first_errors) < 3:
            self.first_errors.append(f"{what}: {detail[:500]}")


class Rater:
    """One person: own connection, own cookies. Each site's raters log in and do a cycle."""

    def __init__(self, site: str, number: int, work: str) -> None:
        self.site = site
        self.number = number
        self.work = work
        self.seen = Seen()
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=1),
            cookie_jar=aiohttp.CookieJar(unsafe=True),
            timeout=aiohttp.ClientTimeout(total=120),
        )

    async def log_in(self) -> None:
        raise NotImplementedError

    async def cycle(self) -> None:
        raise NotImplementedError

    async def ask(
        self, step: str, method: str, path: str, *, expect: int, **options: Any
    ) -> tuple[str, str]:
        """One request, timed to the last byte of its answer: where it leads, and its text."""
        started = time.perf_counter()
        try:
            status, leads_to, body = await self._send(method, path, options)
        except (aiohttp.ClientError, TimeoutError) as error:
            self.seen.fail(step, repr(error))
            raise Failed from error
        self.seen.seconds[step].append(time.perf_counter() - started)
        self.seen.bytes[step] += len(body)
        if status != expect:
            self.seen.fail(f"{step} {status}", body.decode(errors="replace"))
            raise Failed
        return leads_to, body.decode()

    async def _send(self, method: str, path: str, options: Any) -> tuple[int, str, bytes]:
        try:
            return await self._send_once(method, path, options)
        except aiohttp.ServerDisconnectedError:
            # The server closed an idle connection at this moment: browsers send again, too.
            self.seen.reconnections += 1
            return await self._send_once(method, path, options)

    async def _send_once(self, method: str, path: str, options: Any) -> tuple[int, str, bytes]:
        url = self.site + path
        async with self.session.request(method, url, allow_redirects=False, **options) as answer:
            return answer.status, answer.headers.get("Location", ""), await answer.read()

    def cookie(self, name: str) -> str:
        return next(cookie.value for cookie in self.session.cookie_jar if cookie.key == name)
