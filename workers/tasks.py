from datetime import timedelta

import structlog
from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from hits.channels.configured import channel, names
from hits.channels.contract import NoAnswer
from hits.models import Job
from hits.pipeline import arrange, doubt, jobs, ledger, publish, reconcile, replace
from hits.pipeline.check import check_submitted
from hits.pipeline.pay import settle_payments
from hits.pipeline.submit import free_expired
from workers.work import WORK

log = structlog.get_logger()

ROUTINE_KEPT = timedelta(days=2)


@shared_task
def run_job(job_id: int) -> None:
    jobs.run(job_id, WORK)


@shared_task
def sweep() -> None:
    """What must happen whoever forgot it: bells, leases, golds, and what marketplaces are owed."""
    jobs.ring_again()
    free_expired()
    check_submitted()
    doubt.ask_what_is_due()
    settle_payments()
    replace.ask_what_is_due()
    for publication in publish.launches_left():
        publish.ask_to_launch(publication, by=None)
    if ledger.due().exclude(action__in=ledger.OF_A_LAUNCH).exists():
        jobs.ask_once(kind="settle", arguments={}, queue=publish.QUEUE)
    if reconcile.due().exists():
        jobs.ask_once(kind="reconcile", arguments={}, queue=publish.QUEUE)


@shared_task
def listen() -> None:
    """Hints from the queues of marketplaces."""
    for name in names():
        try:
            hinted = channel(name).poll_events()
        except NoAnswer as silence:
            log.warning("no hints", channel=name, why=str(silence))
        else:
            reconcile.ask_to_reconcile(channel=name, hit_ids=hinted)


@shared_task
def forget_expired_sessions() -> None:
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


@shared_task
def forget_routine_jobs() -> None:
    """What the sweep asks for by itself many times a day."""
    Job.objects.filter(
        kind__in=["settle", "reconcile", "signals", "replace"],
        asked_by__isnull=True,
        finished_at__lt=timezone.now() - ROUTINE_KEPT,
    ).delete()


@shared_task
def forget_uploads() -> None:
    log.info("uploads forgotten", files=arrange.forget_uploads())
