from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0016_outlines"),
    ]

    operations = [
        migrations.AddField(
            model_name="person",
            name="is_simulated",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Made up, to rehearse a study."
            ),
        ),
    ]
