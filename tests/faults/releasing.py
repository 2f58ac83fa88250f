"""Makes a release and is killed at a moment: python releasing.py STUDY NAME MOMENT."""

import os
import signal
import sys
from typing import Any

import django


def die(*args: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def survive(*args: Any) -> None:
    pass


def main(study_slug: str, name: str, moment: str) -> None:
    django.setup()
    from hits.models import Study
    from hits.pipeline import shelf
    from hits.pipeline.release import release

    put = shelf.put

    def put_and_die(*args: Any) -> None:
        put(*args)
        die()

    if moment == "in its place":
        setattr(shelf, "put", put_and_die)  # noqa: B010
    study = Study.objects.get(slug=study_slug)
    tell = die if moment == "while it is written" else survive
    release(studies=[study], name=name, by=study.corpus.owner, tell=tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
