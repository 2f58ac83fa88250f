import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import MD5, Cast, Now

TABLE = "hits_judgmentimport"


class Migration(migrations.Migration):
    dependencies = [("hits", "0008_training")]

    operations = [
        migrations.AddConstraint(
            model_name="studyrow",
            constraint=models.UniqueConstraint(
                models.F("study"),
                MD5(Cast("content", models.TextField())),
                name="study_row_once",
            ),
        ),
        migrations.CreateModel(
            name="JudgmentImport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_default=Now())),
                ("file_name", models.CharField(max_length=200)),
                ("sha256", models.CharField(max_length=64)),
                ("counts", models.JSONField()),
                (
                    "by",
                    models.ForeignKey(
                        help_text="Empty: a command.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="imports",
                        to="hits.study",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(
            f"CREATE TRIGGER {TABLE}_append_only BEFORE UPDATE OR DELETE ON {TABLE}"
            " FOR EACH ROW EXECUTE FUNCTION hits_append_only()",
            f"DROP TRIGGER {TABLE}_append_only ON {TABLE}",
        ),
    ]
