"""Whatever fits the OpenAPI description, and whatever does not, gets an answer that it states."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import schemathesis
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok

from tests.api.matrix import Row, rows
from tests.api.requests_for import parameters_of
from tests.api.routes import PARAMETER, Route, all_routes
from tests.api.world import PEOPLE, World

pytestmark = pytest.mark.django_db

IN_BRACES = re.compile(r"\{(\w+)\}")
AnyCase = Case[Any]
HOST = "http://testserver"
MEANT_FOR_ANOTHER = frozenset({"Authorization", "Cookie", "Host", "Content-Length"})
KEPT_OUT = frozenset({"401", "403", "404"})


class Operation:
    """One method of one address: what may be sent there, who may do so and what is answered."""

    def __init__(self, world: World, described: Any) -> None:
        self.world = world
        self.described = described
        self.route = _route_of(described.path)
        self.row = _row_of(self.route, described.method.upper())
        self.stated = frozenset(described.definition.raw["responses"])
        self.values = self._real_values()

    def _real_values(self) -> dict[str, str]:
        """Of the parameters in its path, so that something is there."""
        known = parameters_of(self.world, self.route.path, self.described.method.upper())
        names = [found[1] for found in PARAMETER.findall(self.route.path)]
        asked = IN_BRACES.findall(self.described.path)
        return {mine: str(known[name]) for mine, name in zip(asked, names, strict=True)}

    def wrong_answers(self, people: list[str], examples: int) -> Iterator[str]:
        for case in self._cases(examples):
            for name in people:
                status = _status(self.world, name, case)
                if self._is_wrong(status, name):
                    sent = json.dumps(case.body, default=str)[:300]
                    asked = f"{case.method} {case.formatted_path} {case.query} {sent}"
                    yield f"{status} for {name}: {asked}"

    def _cases(self, examples: int) -> list[AnyCase]:
        found: list[AnyCase] = []

        @settings(
            max_examples=examples,
            database=None,
            derandomize=True,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=self.described.as_strategy())
        def gather(case: AnyCase) -> None:
            case.path_parameters = self.values
            found.append(case)

        gather()
        return found

    def _is_wrong(self, status: str, name: str) -> bool:
        """A failure, a status that is not stated, or more than the matrix lets this person do."""
        is_let_in = self.row.expected[name] in KEPT_OUT and status < "400"
        return status not in self.stated or status >= "500" or is_let_in


def _route_of(path: str) -> Route:
    template = IN_BRACES.sub("{}", path)
    return next(each for each in all_routes() if PARAMETER.sub("{}", f"/{each.path}") == template)


def _row_of(route: Route, method: str) -> Row:
    return next(row for row in rows() if row.method == method and row.is_of(route.path))


def operations(world: World) -> Iterator[Operation]:
    described = Client().get("/api/schema/").json()
    schema = schemathesis.openapi.from_dict(described)
    schema.config.generation.modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        yield Operation(world, found.ok())


def send(client: Client, case: AnyCase) -> Any:
    values = case.as_transport_kwargs(base_url=HOST)
    names = ("method", "url", "headers", "params", "data", "json", "files")
    prepared = requests.Request(**{n: values[n] for n in names if n in values}).prepare()
    address = urlsplit(prepared.url or "")
    headers = {n: v for n, v in prepared.headers.items() if n.title() not in MEANT_FOR_ANOTHER}
    client.raise_request_exception = False
    return client.generic(
        case.method,
        f"{address.path}?{address.query}" if address.query else address.path,
        prepared.body or b"",
        content_type=str(headers.pop("Content-Type", "")),
        headers={n: v for n, v in headers.items() if n.isascii() and str(v).isascii()},
    )


def _status(world: World, name: str, case: AnyCase) -> str:
    """With what it changed undone; whoever asks often is not sent away here."""
    cache.clear()
    with transaction.atomic():
        response = send(world.api_client(name), case)
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    return str(response.status_code)


def wrong_answers(world: World, people: list[str], examples: int) -> str:
    world.log_in()
    found = [
        wrong
        for operation in operations(world)
        for wrong in operation.wrong_answers(people, examples)
    ]
    return "\n".join(found)


def test_researchers_and_raters_get_answers_that_the_schema_states_and_the_matrix_allows(
    world: World,
) -> None:
    assert wrong_answers(world, ["researcher", "rater"], examples=2) == ""


@pytest.mark.deep
def test_everybody_gets_answers_that_the_schema_states_and_the_matrix_allows(world: World) -> None:
    assert wrong_answers(world, PEOPLE, examples=25) == ""
