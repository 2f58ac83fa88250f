"""Sessions in PostgreSQL, read by a prepared statement: the database is asked anyway, and this is
cheaper than asking Redis as well."""

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session

from hits.pipeline.statements import Joined

_SESSION = Joined(
    "django_session s WHERE s.session_key = %(key)s AND s.expire_date > now()", s=Session
)


class SessionStore(DatabaseStore):
    def _get_session_from_db(self) -> Session | None:
        found = _SESSION.first(key=self.session_key)
        if found is None:
            self._session_key = None
            return None
        session: Session = found[0]
        return session
