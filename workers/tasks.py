from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from hits.pipeline import jobs
from hits.pipeline.check import check_submitted
from hits.pipeline.submit import free_expired
from workers.work import WORK


@shared_task
def run_job(job_id: int) -> None:
    jobs.run(job_id, WORK)


@shared_task
def sweep() -> None:
    """What must happen whoever forgot it: bells, leases, golds."""
    jobs.ring_again()
    free_expired()
    check_submitted()


@shared_task
def forget_expired_sessions() -> None:
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
