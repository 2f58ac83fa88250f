"""What can be said of docker-compose.yml and the Dockerfile without an engine."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

BASE_DIR = Path(__file__).resolve().parents[2]
COMPOSE_FILE = BASE_DIR / "docker-compose.yml"
OURS = ("web", "worker", "gpu-worker", "scheduler", "migrate")
SECRETS = ("SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD")
# Fixed by the image, or of no use in a container.
NOT_FOR_COMPOSE = {"DEBUG", "EMAIL_BACKEND", "EMAIL_FILE_PATH", "FILE_UPLOAD_TEMP_DIR"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE_FILE.read_text())
    return loaded


def names_read_by_the_settings() -> set[str]:
    text = "".join(
        (BASE_DIR / "annotation_app" / name).read_text()
        for name in ("settings.py", "environment.py")
    )
    return set(re.findall(r'\.(?:text|flag|number|names)\(\s*"([A-Z0-9_]+)"', text))


def test_the_compose_file_follows_the_specification() -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    subprocess.run(
        [checker, "--builtin-schema", "vendor.compose-spec", COMPOSE_FILE], check=True, timeout=60
    )


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    if not hadolint.exists():
        pytest.skip("hadolint has no wheel for this platform")
    subprocess.run([hadolint, BASE_DIR / "Dockerfile"], check=True, timeout=60)


def test_compose_itself_refuses_to_start_without_secrets() -> None:
    docker_compose = shutil.which("docker-compose")
    if docker_compose is None:
        pytest.skip("there is no docker-compose here")
    answer = subprocess.run(
        [docker_compose, "--file", COMPOSE_FILE, "--env-file", "/dev/null", "config", "--quiet"],
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert re.search(r"required variable [A-Z_]+ is missing a value", answer.stderr)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_has_no_default(name: str) -> None:
    uses = re.findall(r"\$\{" + name + r"([^}]*)\}", COMPOSE_FILE.read_text())
    assert uses
    assert all(use.startswith(":?") for use in uses)


def test_every_setting_can_be_given_to_the_containers(compose: dict[str, Any]) -> None:
    for service in OURS:
        given = set(compose["services"][service]["environment"])
        assert names_read_by_the_settings() - NOT_FOR_COMPOSE <= given


def test_every_setting_is_documented() -> None:
    documented = (BASE_DIR / "docs/deploying.md").read_text()
    assert [name for name in names_read_by_the_settings() if f"`{name}`" not in documented] == []


@pytest.mark.parametrize("service", OURS)
def test_our_containers_have_no_rights_and_a_read_only_file_system(
    compose: dict[str, Any], service: str
) -> None:
    settings = compose["services"][service]
    assert settings["read_only"] is True
    assert settings["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in settings["security_opt"]


def test_whatever_keeps_running_has_a_health_check(compose: dict[str, Any]) -> None:
    running = {name for name in compose["services"] if name != "migrate"}
    assert {name for name in running if "healthcheck" in compose["services"][name]} == running


def test_the_workers_together_serve_every_queue(compose: dict[str, Any]) -> None:
    commands = [compose["services"][name]["command"] for name in ("worker", "gpu-worker")]
    queues = [command[command.index("--queues") + 1].split(",") for command in commands]
    assert queues == [["cpu", "marketplace"], ["gpu"]]


def test_only_the_web_server_is_reached_from_outside_and_through_a_proxy(
    compose: dict[str, Any],
) -> None:
    published = {name: s["ports"] for name, s in compose["services"].items() if "ports" in s}
    assert published == {"web": ["${WEB_ADDRESS:-127.0.0.1:8000}:8000"]}
    assert compose["networks"]["backend"] == {"internal": True}
    for name in ("postgres", "valkey"):
        assert compose["services"][name]["networks"] == ["backend"]


def test_the_image_gets_only_what_runs() -> None:
    allowed = [
        line for line in (BASE_DIR / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    assert {"!var", "!.env", "!.git", "!tests"}.isdisjoint(allowed)
    assert all((BASE_DIR / line[1:]).exists() for line in allowed)
