import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


def append_only(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION hits_append_only()",
        f"DROP TRIGGER {table}_append_only ON {table}",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0019_evaluations"),
    ]

    operations = [
        migrations.CreateModel(
            name="Flag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("signal", models.CharField(max_length=20)),
                ("figure", models.FloatField()),
                ("threshold", models.FloatField()),
                ("doubt", models.FloatField(help_text="1 at the threshold.")),
                ("says", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="GoldDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "value",
                    models.CharField(
                        choices=[("kept", "kept"), ("retired", "retired")], max_length=10
                    ),
                ),
                ("answered", models.PositiveIntegerField(help_text="By good people, until then.")),
                ("failed", models.PositiveIntegerField()),
                ("reason", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Look",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Opinion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "use",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("used", "used"),
                            ("not_used", "not used"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "payment",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("approved", "approved"),
                            ("refused", "refused"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="PersonEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("warning", "warning"),
                            ("excluded", "excluded"),
                            ("readmitted", "readmitted"),
                            ("qualified", "let in without training"),
                            ("appeal", "appeal"),
                            ("answer", "answer to an appeal"),
                        ],
                        max_length=10,
                    ),
                ),
                ("text", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Reading",
            fields=[
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="reading",
                        serialize=False,
                        to="hits.study",
                    ),
                ),
                (
                    "asked_at",
                    models.DateTimeField(help_text="Work came in that is not read yet.", null=True),
                ),
                ("at", models.DateTimeField(null=True)),
                ("seconds", models.FloatField(default=0)),
                ("judgments", models.PositiveIntegerField(default=0)),
                (
                    "silent",
                    models.JSONField(default=dict, help_text="Signals that say nothing, and why."),
                ),
            ],
        ),
        migrations.RemoveIndex(
            model_name="assignment",
            name="assignment_to_review",
        ),
        migrations.AddField(
            model_name="assignment",
            name="doubt",
            field=models.FloatField(
                db_default=0,
                default=0,
                help_text="Of the strongest signal on it; 1 at its threshold.",
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="looked_at",
            field=models.DateTimeField(help_text="When a person last decided on it.", null=True),
        ),
        migrations.AddField(
            model_name="assignment",
            name="second_asked_by",
            field=models.ForeignKey(
                help_text="Until somebody else decides.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="publication",
            name="replaced",
            field=models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text="Pages bought because others were paid and not used.",
            ),
        ),
        migrations.AddField(
            model_name="studyversion",
            name="quality",
            field=models.JSONField(
                db_default={},
                default=dict,
                help_text="Rules of the signals, and what follows from them.",
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="waits",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(
                        ("checked_at__isnull", False),
                        models.Q(
                            ("use", "pending"),
                            models.Q(
                                ("doubt__gte", 1), ("looked_at__isnull", True), ("use", "used")
                            ),
                            _connector="OR",
                        ),
                    ),
                    output_field=models.BooleanField(),
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("waits", True)),
                fields=["study", "-doubt", "submitted_at", "id"],
                name="assignment_to_review",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="assignment",
            field=models.ForeignKey(
                help_text="Empty: the person.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="flags",
                to="hits.assignment",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="other",
            field=models.ForeignKey(
                help_text="Whom it is about as well.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="hits.person",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="hits.person"
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="study",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="flags",
                to="hits.study",
            ),
        ),
        migrations.AddField(
            model_name="golddecision",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="golddecision",
            name="unit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="gold_decisions",
                to="hits.unit",
            ),
        ),
        migrations.AddField(
            model_name="look",
            name="assignment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="looks",
                to="hits.assignment",
            ),
        ),
        migrations.AddField(
            model_name="look",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="opinion",
            name="assignment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="opinions",
                to="hits.assignment",
            ),
        ),
        migrations.AddField(
            model_name="opinion",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="opinions",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="personevent",
            name="answers",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="answer",
                to="hits.personevent",
            ),
        ),
        migrations.AddField(
            model_name="personevent",
            name="assignment",
            field=models.ForeignKey(
                help_text="The page it is about.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="hits.assignment",
            ),
        ),
        migrations.AddField(
            model_name="personevent",
            name="by",
            field=models.ForeignKey(
                help_text="Empty: a command.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="personevent",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="events", to="hits.person"
            ),
        ),
        migrations.AddField(
            model_name="personevent",
            name="study",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="person_events",
                to="hits.study",
            ),
        ),
        migrations.AddConstraint(
            model_name="flag",
            constraint=models.UniqueConstraint(
                fields=("study", "person", "assignment", "signal"),
                name="flag_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="flag",
            constraint=models.CheckConstraint(
                condition=models.Q(("doubt__gte", 1)), name="flag_is_raised"
            ),
        ),
        migrations.AddConstraint(
            model_name="golddecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="gold_decision_has_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(
                fields=("assignment", "by", "position"), name="look_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="opinion",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="opinion_has_reason"
            ),
        ),
        migrations.AddIndex(
            model_name="personevent",
            index=models.Index(fields=["study", "person", "id"], name="person_event_of"),
        ),
        migrations.AddConstraint(
            model_name="personevent",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="person_event_says_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="personevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answers__isnull", False), ("kind", "answer")),
                    models.Q(
                        models.Q(("kind", "answer"), _negated=True), ("answers__isnull", True)
                    ),
                    _connector="OR",
                ),
                name="person_event_answers",
            ),
        ),
        append_only("hits_opinion"),
        append_only("hits_golddecision"),
        append_only("hits_personevent"),
    ]
