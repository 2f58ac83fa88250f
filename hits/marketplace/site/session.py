"""Who is logged in: a signed cookie of the marketplace's own. Cookies know no ports, so its name
is none of the annotation app's, which may answer at the same host."""

from hashlib import sha256

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse

from hits.marketplace.models import Worker

COOKIE = "marketplace_worker"
SECONDS = 14 * 24 * 3600
FAILURES = 10
FAILURES_SECONDS = 15 * 60


def worker_of(request: HttpRequest) -> Worker | None:
    pk = request.get_signed_cookie(COOKIE, default="", salt=COOKIE, max_age=SECONDS)
    return Worker.objects.filter(pk=pk).first() if pk else None


def log_in(request: HttpRequest, response: HttpResponse, worker: Worker) -> None:
    response.set_signed_cookie(
        COOKIE,
        str(worker.pk),
        salt=COOKIE,
        max_age=SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def log_out(response: HttpResponse) -> None:
    response.delete_cookie(COOKIE, samesite="Lax")


class TooManyFailures(Exception):
    pass


def authenticated(request: HttpRequest, *, name: str, password: str) -> Worker | None:
    """The worker of this name or worker id, if the password is theirs."""
    tried = f"{request.META.get('REMOTE_ADDR')} {name.casefold()}"
    failures = f"marketplace-failures:{sha256(tried.encode()).hexdigest()}"
    cache.add(failures, 0, FAILURES_SECONDS)
    if cache.get(failures, 0) >= FAILURES:
        raise TooManyFailures
    worker = (
        Worker.objects.filter(name=name).first()
        or Worker.objects.filter(worker_id=name.upper()).first()
    )
    if worker is None:
        # As slow as a wrong password: how long it takes does not tell who has an account.
        Worker().set_password(password)
    elif worker.check_password(password):
        cache.delete(failures)
        return worker
    cache.incr(failures)
    return None
