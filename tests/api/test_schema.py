"""The OpenAPI description is valid, complete and asks for nothing it should not."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from tests.api.routes import all_routes

pytestmark = pytest.mark.django_db

RIGHTS = {"is_superuser", "is_staff", "is_active", "groups", "user_permissions", "owner"}


def _schema() -> dict[str, Any]:
    found: dict[str, Any] = Client().get("/api/schema/").json()
    return found


def test_the_schema_is_made_without_a_warning_and_is_valid(tmp_path: Path) -> None:
    call_command(
        "spectacular",
        validate=True,
        fail_on_warn=True,
        file=str(tmp_path / "schema.yml"),
    )


def test_the_schema_has_every_operation_of_the_api() -> None:
    paths = _schema()["paths"]
    described = sum(len(operations) for operations in paths.values())
    routes = [route for route in all_routes() if route.is_api]
    there = sum(len(route.methods) for route in routes if route.path != "api/schema/")
    assert described == there


def test_nothing_that_is_sent_can_name_a_right() -> None:
    schema = _schema()
    components = schema["components"]["schemas"]
    sent = {
        content["schema"]["$ref"].rpartition("/")[2]
        for operations in schema["paths"].values()
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    }
    assert len(sent) > 10
    for name in sent:
        writable = {
            field
            for field, described in components[name]["properties"].items()
            if not described.get("readOnly")
        }
        assert not writable & RIGHTS, name
