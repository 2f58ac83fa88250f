from django.db import migrations

FUNCTION = """
CREATE FUNCTION marketplace_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
END $$
"""
TABLES = ["marketplace_bonus", "marketplace_payment"]


def trigger(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION marketplace_append_only()",
        f"DROP TRIGGER {table}_append_only ON {table}",
    )


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0001_initial")]
    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION marketplace_append_only"),
        *(trigger(table) for table in TABLES),
    ]
