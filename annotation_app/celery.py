import os
import signal

from celery import Celery
from celery.signals import worker_init, worker_process_init

from annotation_app.processes import dies_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings")

app = Celery("annotation_app")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["workers"])


@worker_init.connect
def _processes_die_with_their_worker(**_: object) -> None:
    """Whoever takes over the jobs of a worker that was killed finds nobody still doing them."""
    worker = os.getpid()
    tie = dies_with_parent(signal.SIGKILL)

    def tie_unless_it_is_the_worker(**_: object) -> None:
        if tie is not None and os.getpid() != worker:
            tie()

    worker_process_init.connect(tie_unless_it_is_the_worker, weak=False)
