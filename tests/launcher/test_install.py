import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app import install

BASE_DIR = Path(__file__).resolve().parents[2]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose demo has been installed; returns its list of requirements."""
    requirements = tmp_path / "pyproject.toml"
    requirements.write_text("as it was")
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    monkeypatch.setattr(install, "VENV", tmp_path)
    monkeypatch.setattr(install, "VENV_PYTHON", python)
    monkeypatch.setattr(install, "REQUIREMENTS", (requirements, tmp_path / "constraints.txt"))
    (tmp_path / "installed-embedded").write_text(install._wanted())
    return requirements


@pytest.mark.usefixtures("installed")
def test_what_is_installed_is_not_installed_again() -> None:
    assert install.is_installed("embedded")
    assert not install.is_installed("dev")


def test_changed_requirements_are_installed_again(installed: Path) -> None:
    installed.write_text("with something new")
    assert not install.is_installed("embedded")


def test_constraints_that_appear_are_installed_again(installed: Path) -> None:
    installed.with_name("constraints.txt").write_text("django==5.2.19")
    assert not install.is_installed("embedded")


def test_an_environment_whose_python_is_gone_is_made_anew(installed: Path) -> None:
    python = installed.with_name("bin") / "python"
    python.unlink()
    python.symlink_to("/no/longer/here")
    assert not install.is_installed("embedded")


def test_a_browser_that_cannot_be_installed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(install.InstallError, match="set CHROMIUM to the path"):
        install.install_browser()


def test_make_says_that_python_is_missing() -> None:
    make = shutil.which("make")
    assert make is not None
    answer = subprocess.run(
        [make, "--directory", BASE_DIR, "demo"],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    assert "Python 3.11 or newer is needed" in answer.stderr
