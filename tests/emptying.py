"""The database after a test that committed: its rows are deleted.

Django would truncate every table, however empty, and make all permissions anew, which takes longer
than most of these tests do. Permissions and content types are what migrations left, and stay.
"""

from functools import cache

from django.db import connection, transaction

KEPT = {"django_content_type", "auth_permission"}


def empty_the_database() -> None:
    """Whoever still writes is waited for; neither foreign keys nor what may only be appended to
    are in the way of a replica."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_statements())


@cache
def _statements() -> str:
    existing = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = sorted(connection.ops.quote_name(name) for name in existing if name not in KEPT)
    return ";\n".join(
        [
            "SET LOCAL session_replication_role = replica",
            f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE",
            *(f"DELETE FROM {table}" for table in tables),
        ]
    )
