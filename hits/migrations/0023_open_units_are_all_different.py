import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0022_parts_of_jobs"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="unit",
            name="unit_open",
        ),
        migrations.AddIndex(
            model_name="unit",
            index=django.contrib.postgres.indexes.BTreeIndex(
                condition=models.Q(("is_open", True)),
                deduplicate_items=False,
                fields=["study", "pool", "order_key"],
                name="unit_open",
            ),
        ),
    ]
