from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0024_decisions_of_jobs"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="proposal",
            name="proposal_identity",
        ),
        migrations.AddField(
            model_name="proposal",
            name="items",
            field=models.CharField(blank=True, default="", max_length=64),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="proposal",
            constraint=models.UniqueConstraint(
                fields=(
                    "corpus",
                    "machine",
                    "direction",
                    "split",
                    "depth",
                    "query_sample",
                    "seed",
                    "items",
                ),
                name="proposal_identity",
                nulls_distinct=False,
            ),
        ),
    ]
