"""Fills a Turkle site; runs in Turkle's own environment: python -m … TASKS ANSWERS_EACH."""

import csv
import io
import json
import sys
from datetime import timedelta
from typing import Any

import django
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.utils import timezone

from bench.people import PASSWORD, RATERS, login_of

TOKEN = "b" * 40
FIELDS = ("image", "caption", "pair")
TEMPLATE = """
<p>${pair}</p><img src="${image}" alt="The image"><p>${caption}</p>
<fieldset><legend>Is the image correctly described?</legend>
<label><input type="radio" name="choice" value="yes" required> 100% YES</label>
<label><input type="radio" name="choice" value="partial_yes"> Partially YES, but</label>
<label><input type="radio" name="choice" value="mostly_no"> Mostly NO, because</label>
<label><input type="radio" name="choice" value="no"> 100% NO</label></fieldset>
<textarea name="problem"></textarea><input type="submit" value="Submit">
"""


def tasks_csv(tasks: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    for number in range(1, tasks + 1):
        writer.writerow(
            [
                f"https://images.example.org/image_{number:012d}.jpg",
                f"A photograph of item number {number} on a wooden table, seen from above, "
                "in daylight",
                f"pair-{number}",
            ]
        )
    return text.getvalue()


def seed(tasks: int, answers_each: int) -> dict[str, int]:
    from rest_framework.authtoken.models import Token
    from turkle.models import Batch, Project  # type: ignore[import-not-found]

    login = get_user_model()
    password = make_password(PASSWORD)
    admin = login.objects.create(username="admin", is_staff=True, is_superuser=True)
    Token.objects.create(user=admin, key=TOKEN)
    people = [login(username=login_of(number), password=password) for number in range(RATERS)]
    login.objects.bulk_create(people)
    project = Project(
        name="pairs", html_template=TEMPLATE, assignments_per_task=3, created_by=admin
    )
    project.clean()
    project.save()
    if tasks:
        batch = Batch.objects.create(
            name="pairs", project=project, assignments_per_task=3, created_by=admin, filename="p"
        )
        batch.create_tasks_from_csv(io.StringIO(tasks_csv(tasks)))
        _answer(batch, answers_each)
    return {"project": project.pk, "batch": batch.pk if tasks else 0}


def _answer(batch: Any, answers_each: int) -> None:
    from turkle.models import Task, TaskAssignment

    people = list(get_user_model().objects.filter(is_staff=False).values_list("pk", flat=True))
    made = [
        TaskAssignment(
            task_id=task,
            assigned_to_id=people[(3 * number + each) % RATERS],
            completed=True,
            expires_at=timezone.now() + timedelta(hours=1),
            answers={"choice": "yes" if (number + each) % 2 else "no", "problem": ""},
        )
        for number, task in enumerate(batch.task_set.order_by("pk").values_list("pk", flat=True))
        for each in range(answers_each)
    ]
    TaskAssignment.objects.bulk_create(made, batch_size=5000)
    if made:
        Task.objects.filter(batch=batch).update(completed=True)


if __name__ == "__main__":
    django.setup()
    print(json.dumps(seed(int(sys.argv[1]), int(sys.argv[2]))))
