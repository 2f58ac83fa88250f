"""A request that makes sense for each route: its parameters and what is sent."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hits.models import Assignment
from hits.pipeline import letters
from tests import framed
from tests.api.routes import PARAMETER, Route
from tests.api.world import World, answers_as_json

FILES = (
    "/import/",
    "/rows/",
    "/imports/",
    "/propose-file/",
    "/renovate/",
    "/doubtful/",
    "api/evaluations/",
    "api/alterations/",
)


@dataclass(frozen=True)
class Asked:
    path: str
    sent: dict[str, Any] = field(default_factory=dict)
    is_form: bool = False


def asked(world: World, route: Route | str, method: str) -> Asked:
    path = route if isinstance(route, str) else route.path
    parameters = parameters_of(world, path, method)
    address = "/" + PARAMETER.sub(lambda found: str(parameters[found[2]]), path)
    is_api = path.startswith("api/")
    sent = _sent(world, path, method) if method != "GET" else {}
    return Asked(address, sent, is_form=not is_api or path.endswith(FILES))


def answer_to(world: World, name: str, request: Asked, method: str) -> Any:
    is_api = request.path.startswith("/api/")
    client = world.api_client(name) if is_api else world.page_client(name)
    return send(client, request, method)


def send(client: Client, request: Asked, method: str) -> Any:
    client.raise_request_exception = False
    for value in request.sent.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    if method == "GET":
        return client.get(request.path)
    if request.is_form and method == "POST":
        return client.post(request.path, request.sent)
    return client.generic(
        method, request.path, json.dumps(request.sent), content_type="application/json"
    )


def parameters_of(world: World, path: str, method: str) -> dict[str, Any]:
    study = world.draft if path in DRAFTS and method in DRAFTS[path] else world.study
    return {
        "slug": world.corpus.slug if "corpora/" in path or "recipes/" in path else study.slug,
        "recipe": world.run.recipe.slug,
        "other": world.other.slug,
        "key": _page(world, path).key,
        "sha256": world.corpus.images.earliest("pk").blob_id,
        "name": _name(world, path),
        "unknown": "nothing/here",
        "pk": _number(world, path),
        "call": world.refused_call.pk,
        "job": world.decided_many.pk,
        "person": world.failed_page.person_id,
        "token": world.invitation.token,
        "signed": letters.signed(world.study.pk, world.claim.account_id),
        "uidb64": "MQ",
        "content_type_id": 0,
        "object_id": _object_of(path) if path.startswith("admin/") else 0,
        "app_label": "hits",
        "url": "x",
        "signed_key": framed.signed_key(world.hit),
        "anything": "x",
        "channel": world.hit.publication.channel,
        "protocol": "matching",
        "table": "people",
        "form": "csv",
        "kind": "correlation",
        "pilot": "none",
        "act": "remove",
    }


def _judged_unit(world: World) -> str:
    judged = world.study.units.filter(slots__assignment__use="used", gold__isnull=True)
    return judged.earliest("pk").key


def _page(world: World, path: str) -> Assignment:
    if "review" in path:
        return world.failed_page
    if path.endswith("/feedback/"):
        return world.training_page
    return world.own_page if path.endswith("/done/") else world.open_page


def _name(world: World, path: str) -> str:
    if "recipes/" in path:
        return world.run.name
    return "bonus" if "claims/" in path else "data.json"


def _object_of(path: str) -> Any:
    """The first object of a model of the admin site."""
    _, app, model, *_ = [*path.split("/"), "", ""]
    if app not in {"hits", "axes"}:
        return 0
    return apps.get_model(app, model)._base_manager.values_list("pk", flat=True).first()


def _number(world: World, path: str) -> int:
    for part, row in [
        ("/members/", world.member),
        ("/people/", world.member),
        ("/invitations/", world.invitation),
        ("publications/", world.publication),
        ("calls/", world.refused_call),
        ("/pay/", world.stranded_there),
        ("/compensate/", world.stranded_here),
        ("/appeals/", world.appeal),
        ("/decide/", world.decided_many),
        ("claims/", world.claim),
        ("releases/", world.release),
        ("evaluations/", world.evaluation),
        ("jobs/", world.job),
    ]:
        if part in path:
            return int(row.pk)
    return 0


MESSAGE = {"subject": "Your work", "text": "Thank you."}
DRAFTS = {
    "api/studies/<slug:slug>/plan/": ["GET"],
    "api/studies/<slug:slug>/open/": ["POST"],
    "api/studies/<slug:slug>/proposals/": ["PUT"],
}


def _sent(world: World, path: str, method: str) -> dict[str, Any]:
    rater = world.people["rater"]
    assert rater is not None
    answers = answers_as_json(world.open_page)
    sent: dict[tuple[str, str], dict[str, Any]] = {
        ("api/token/", "POST"): {"username": rater.username, "password": "a good password"},
        ("api/join/", "POST"): {"token": world.invitation.token},
        ("api/register/", "POST"): {
            "token": world.invitation.token,
            "name": "New",
            "email": "new@example.org",
            "password": "a long enough password",
        },
        ("api/corpora/", "POST"): {"slug": "new-corpus", "name": "New"},
        ("api/corpora/<slug:slug>/import/", "POST"): {
            "file": SimpleUploadedFile("../../captions.json", b"{}"),
        },
        ("api/studies/<slug:slug>/rows/", "POST"): {
            "file": SimpleUploadedFile("../../rows.csv", b"image,caption\n"),
        },
        ("api/studies/<slug:slug>/imports/", "POST"): {
            "file": SimpleUploadedFile("../../judgments.jsonl", b"{}"),
        },
        ("api/corpora/<slug:slug>/propose/", "POST"): {
            "machine": "palette",
            "directions": ["i2t"],
        },
        ("api/corpora/<slug:slug>/propose-file/", "POST"): {
            "file": SimpleUploadedFile("../../lists.jsonl", b"{}"),
            "name": "elsewhere",
            "directions": ["i2t"],
        },
        ("api/studies/<slug:slug>/renovate/", "POST"): {
            "file": SimpleUploadedFile("../../details.csv", b"caption,detail\n"),
            "scorer": "palette",
        },
        ("api/alterations/", "POST"): {
            "annotations": SimpleUploadedFile("../../bison.json", b'{"info": {}, "data": []}'),
            "alteration": "reversal",
        },
        ("api/evaluations/", "POST"): {
            "kind": "correlation",
            "metrics": SimpleUploadedFile("../../metrics.csv", b"model,a,b\nx,1,2\ny,2,1\n"),
        },
        ("api/studies/", "POST"): {
            "slug": "new-study",
            "name": "New",
            "corpus": world.corpus.slug,
            "protocol": "matching",
        },
        ("api/studies/<slug:slug>/remove/", "POST"): {
            "things": [{"image": world.corpus.images.earliest("pk").external_id}],
            "reason": "A duplicate.",
        },
        ("api/studies/<slug:slug>/restore/", "POST"): {"things": [], "reason": "It is none."},
        ("api/studies/<slug:slug>/doubtful/", "POST"): {
            "file": SimpleUploadedFile("../sits.csv", b"caption,image,agg_score\n"),
        },
        ("api/studies/<slug:slug>/rejudge/", "POST"): {
            "units": [_judged_unit(world)],
            "more": 1,
            "reason": "A reviewer asked.",
        },
        ("api/studies/<slug:slug>/overlap/", "POST"): {
            "units": 3,
            "judgments": 2,
            "reason": "To measure agreement.",
        },
        ("api/studies/<slug:slug>/golds/", "POST"): {
            "units": [_judged_unit(world)],
            "reason": "People agree.",
        },
        ("api/studies/<slug:slug>/golds/retire/", "POST"): {
            "unit": world.study.units.filter(gold__isnull=False).earliest("pk").key,
            "reason": "It is wrong.",
        },
        ("api/studies/<slug:slug>/rehearsal/", "POST"): {"people": 20},
        ("api/studies/<slug:slug>/simulate/", "POST"): {"people": 20},
        ("api/studies/<slug:slug>/clone/", "POST"): {"slug": "again", "name": "Again"},
        ("api/studies/<slug:slug>/pilot/", "POST"): {"pages": 3},
        ("api/studies/<slug:slug>/wage/", "POST"): {"pilot": "none", "hourly": "15"},
        ("api/studies/<slug:slug>/", "PATCH"): {"lease_minutes": 30},
        ("api/studies/<slug:slug>/proposals/", "PUT"): {"proposals": world.proposals},
        ("api/studies/<slug:slug>/feeders/", "PUT"): {"feeders": []},
        ("research/studies/<slug:slug>/people/apart/", "POST"): {"other": world.draft.slug},
        ("api/studies/<slug:slug>/exclusions/", "POST"): {"other": world.draft.slug},
        ("api/studies/<slug:slug>/members/", "POST"): {"email": rater.email, "role": "reviewer"},
        ("api/studies/<slug:slug>/consent/", "POST"): {"version": 1},
        ("api/assignments/<uuid:key>/draft/", "PUT"): {"revision": 0, "answers": answers},
        ("api/assignments/<uuid:key>/submit/", "POST"): {"answers": answers},
        ("api/reviews/<uuid:key>/decide/", "POST"): {
            "use": "not_used",
            "payment": "approved",
            "reason": "Golds failed.",
        },
        ("api/reviews/<uuid:key>/seen/", "POST"): {"positions": [1, 2]},
        ("api/reviews/<uuid:key>/second/", "POST"): {
            "use": "used",
            "payment": "approved",
            "reason": "Not sure.",
        },
        ("api/studies/<slug:slug>/decide/", "POST"): {"use": "used", "reason": "Looked at."},
        ("api/studies/<slug:slug>/people/<int:person>/", "POST"): {
            "kind": "warning",
            "text": "Please read the captions.",
        },
        ("api/studies/<slug:slug>/appeals/<int:pk>/answer/", "POST"): {"text": "We looked again."},
        ("api/studies/<slug:slug>/appeal/", "POST"): {"text": "I did look."},
        ("api/studies/<slug:slug>/golds-in-doubt/", "POST"): {
            "gold": world.gold.pk,
            "value": "kept",
            "reason": "It is right.",
        },
        ("review/<slug:slug>/golds/", "POST"): {"gold": world.gold.pk},
        ("api/studies/<slug:slug>/releases/", "POST"): {"name": "next"},
        ("api/studies/<slug:slug>/publications/", "POST"): {
            "channel": "local",
            "title": "Pairs",
            "description": "Pairs of an image and a caption.",
            "reward": "0.65",
            "minutes": 30,
            "pages": 1,
        },
        ("api/erasures/", "POST"): {
            "channel": "in_house",
            "identity": world.people["stranger"].email,  # type: ignore[union-attr]
        },
        ("api/publications/<int:pk>/state/", "POST"): {"state": "paused"},
        ("api/publications/<int:pk>/top-up/", "POST"): {"pages": 1},
        ("api/publications/<int:pk>/notify/", "POST"): MESSAGE,
        ("api/claims/<int:pk>/notify/", "POST"): MESSAGE,
        ("api/claims/<int:pk>/bonus/", "POST"): {"amount": "1.00", "reason": "Great care."},
        ("api/claims/<int:pk>/block/", "POST"): {"reason": "Random answers."},
        ("api/claims/<int:pk>/unblock/", "POST"): {"reason": "A mistake of ours."},
        ("api/claims/<int:pk>/exclude/", "POST"): {"reason": "Random answers."},
        ("work/<uuid:key>/save", "POST"): {"revision": "0"},
        ("hit/<str:signed_key>/agree", "POST"): {"token": framed.token(world.hit)},
        ("hit/<str:signed_key>/save", "POST"): {"token": framed.token(world.hit), "revision": "0"},
        ("hit/<str:signed_key>/submit", "POST"): {"token": framed.token(world.hit)},
        ("hit/<str:signed_key>/handed-over", "POST"): {"token": framed.token(world.hit)},
        ("hit/<str:signed_key>/withdraw", "POST"): {"token": framed.token(world.hit)},
    }
    return sent.get((path, method), {})
