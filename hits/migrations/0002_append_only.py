from django.db import migrations

# Erasure on a person's request is the one change allowed to what was answered; it says so in
# its transaction by `SET LOCAL hits.erasing = 'on'`.
FUNCTION = """
CREATE FUNCTION hits_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('hits.erasing', true) = 'on' AND TG_OP = 'UPDATE' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
END $$
"""
TABLES = ["hits_decision", "hits_judgment", "hits_release", "hits_releasefile", "hits_studyversion"]


def trigger(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION hits_append_only()",
        f"DROP TRIGGER {table}_append_only ON {table}",
    )


class Migration(migrations.Migration):
    dependencies = [("hits", "0001_initial")]
    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION hits_append_only"),
        *(trigger(table) for table in TABLES),
    ]
