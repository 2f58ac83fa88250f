"""Dallinger's own MTurk service, from its wheel on PyPI: it was written for Amazon, knows nothing
of this marketplace, and is told nothing but the endpoint."""

import subprocess
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hits.marketplace import work
from hits.marketplace.models import Requester
from tests.marketplace import world
from tests.marketplace.asking import done

RELEASE = "dallinger==12.4.0"

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def dallinger(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("dallinger")
    download = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", RELEASE]
    if subprocess.run([*download, "--dest", str(folder)], check=False).returncode:
        pytest.skip(f"{RELEASE} cannot be downloaded")
    [wheel] = folder.glob("*.whl")
    path = Path(zipfile.ZipFile(wheel).extract("dallinger/mturk.py", folder))
    spec = spec_from_loader("dallinger_mturk", SourceFileLoader("dallinger_mturk", str(path)))
    assert spec is not None
    module = module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


class Recruiters(ModuleType):
    """What the service needs of the rest of Dallinger: how an error is reported."""

    @staticmethod
    def handle_and_raise_recruitment_error(error: Exception) -> None:
        raise error


@pytest.fixture
def service(
    dallinger: ModuleType, market: str, owner: Requester, monkeypatch: pytest.MonkeyPatch
) -> Any:
    for name in ("dallinger", "dallinger.recruiters"):
        monkeypatch.setitem(sys.modules, name, Recruiters(name))

    class Here(dallinger.MTurkService):  # type: ignore[misc, name-defined]
        host = market

    return Here(owner.access_key, world.SECRET, "us-east-1")


def hit_of(service: Any, dallinger: ModuleType, **changes: Any) -> dict[str, Any]:
    given = {
        "experiment_id": "an experiment",
        "title": "A title",
        "description": "A description",
        "keywords": ["one", "two"],
        "reward": 0.01,
        "duration_hours": 0.25,
        "lifetime_days": 1,
        "question": dallinger.MTurkQuestions.external("https://example.org/ad?x=1"),
        "max_assignments": 1,
        "annotation": "an annotation",
        "do_subscribe": False,
    }
    hit: dict[str, Any] = service.create_hit(**(given | changes))
    return hit


def test_it_makes_extends_expires_and_finds_hits(service: Any, dallinger: ModuleType) -> None:
    assert service.check_credentials()
    assert service.account_balance() == 1000.0
    hit = hit_of(service, dallinger)
    assert (hit["status"], hit["keywords"], hit["reward"]) == ("Assignable", ["one", "two"], 0.01)
    extended = service.extend_hit(hit["id"], number=2, duration_hours=1.0)
    assert extended["max_assignments"] == 3
    assert (extended["expiration"] - hit["expiration"]).total_seconds() == pytest.approx(
        3600, abs=2
    )
    assert [found["annotation"] for found in service.get_hits()] == ["an annotation"]
    assert service.expire_hit(hit["id"])
    assert service.get_hit(hit["id"])["status"] == "Reviewable"


def test_it_pays(service: Any, dallinger: ModuleType) -> None:
    hit = hit_of(service, dallinger, reward=0.65)
    assignment_id, worker_id = done(hit["id"])
    # Its HITs are approved without a delay, when anybody next looks.
    assert service.get_assignment(assignment_id) == {
        "id": assignment_id,
        "status": "Approved",
        "hit_id": hit["id"],
        "worker_id": worker_id,
    }
    assert service.grant_bonus(assignment_id, 2.99, "to make it three")
    assert service.account_balance() == pytest.approx(1000 - 0.78 - 2.99 - 0.60)
    assert service.get_assignment("3NOBODY") is None


def test_it_keeps_scores_and_excludes_by_them(service: Any, dallinger: ModuleType) -> None:
    worker = world.worker()
    kind = service.create_qualification_type("Did it", "Did it before")
    with pytest.raises(dallinger.DuplicateQualificationNameError):
        service.create_qualification_type("Did it", "Did it before")
    assert service.get_qualification_type_by_name("Did it")["id"] == kind["id"]
    assert service.assign_qualification(kind["id"], worker.worker_id, 2)
    assert service.increment_qualification_score(kind["id"], worker.worker_id)["score"] == 3
    assert service.current_qualification_score(kind["id"], worker.worker_id) == 3
    [holder] = service.get_workers_with_qualification(kind["id"])
    assert holder == {"id": worker.worker_id, "score": 3}
    wanted = dallinger.MTurkQualificationRequirements
    hit_of(
        service,
        dallinger,
        qualifications=[
            wanted.min_approval(95),
            wanted.restrict_to_countries(["US"]),
            wanted.must_not_have(kind["id"]),
        ],
    )
    [offer] = work.available(worker)
    assert (offer.may_preview, offer.may_accept) == (False, False)
    [offer] = work.available(world.worker())
    assert (offer.may_preview, offer.may_accept) == (True, True)
    assert service.revoke_qualification(kind["id"], worker.worker_id, "enough")
    with pytest.raises(dallinger.RevokedQualification):
        service.current_qualification_score(kind["id"], worker.worker_id)
    with pytest.raises(dallinger.WorkerLacksQualification):
        service.current_qualification_score(kind["id"], world.worker().worker_id)
    assert service.dispose_qualification_type(kind["id"])
