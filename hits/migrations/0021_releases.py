import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

APPEND_ONLY = "hits_erasure"


class Migration(migrations.Migration):
    dependencies = [("hits", "0020_review_desk")]

    operations = [
        migrations.RemoveConstraint("release", "release_number"),
        migrations.RenameField("release", "number", "major"),
        migrations.AddField("release", "minor", models.PositiveIntegerField(db_default=0)),
        migrations.AddField(
            "release", "licence", models.CharField(blank=True, db_default="", max_length=200)
        ),
        migrations.AddField(
            "release",
            "free_text",
            models.CharField(
                choices=[
                    ("kept", "as people wrote it"),
                    ("scrubbed", "without addresses, handles, numbers and worker ids"),
                    ("left_out", "left out"),
                ],
                db_default="kept",
                help_text="What became of remarks and reported problems.",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "release",
            "place",
            models.CharField(
                blank=True,
                db_default="",
                help_text="s3://bucket/prefix, or a folder of the releases.",
                max_length=1000,
            ),
        ),
        migrations.AddField(
            "release",
            "withdrawn_at",
            models.DateTimeField(help_text="Since when its files are gone.", null=True),
        ),
        migrations.AddConstraint(
            "release",
            models.UniqueConstraint(fields=("name", "major", "minor"), name="release_version"),
        ),
        migrations.AddConstraint(
            "release",
            models.CheckConstraint(condition=models.Q(("major__gte", 1)), name="release_from_1"),
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("counts", models.JSONField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="erasure",
                        to="hits.person",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(
            f"CREATE TRIGGER {APPEND_ONLY}_append_only BEFORE UPDATE OR DELETE ON {APPEND_ONLY}"
            " FOR EACH ROW EXECUTE FUNCTION hits_append_only()",
            f"DROP TRIGGER {APPEND_ONLY}_append_only ON {APPEND_ONLY}",
        ),
    ]
