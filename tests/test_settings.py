import pytest
from django.core.exceptions import ImproperlyConfigured

from annotation_app.environment import DEVELOPMENT_SECRET_KEY, Environment

GOOD_KEY = "k" * 40


def production(**values: str) -> Environment:
    return Environment({"SECRET_KEY": GOOD_KEY, "ALLOWED_HOSTS": "example.org", **values})


def test_what_is_not_said_is_production() -> None:
    assert Environment({}).is_production
    assert not Environment({"ENVIRONMENT": "development"}).is_production


def test_production_refuses_debug() -> None:
    with pytest.raises(ImproperlyConfigured, match="DEBUG"):
        production(DEBUG="on").debug()
    assert production().debug() is False


@pytest.mark.parametrize("key", [DEVELOPMENT_SECRET_KEY, "short", ""])
def test_production_refuses_a_default_or_weak_secret_key(key: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        production(SECRET_KEY=key).secret_key()


def test_production_refuses_to_start_without_a_secret_key() -> None:
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        Environment({}).secret_key()


@pytest.mark.parametrize("hosts", ["", " , "])
def test_production_refuses_empty_allowed_hosts(hosts: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="ALLOWED_HOSTS"):
        production(ALLOWED_HOSTS=hosts).allowed_hosts()
    assert production().allowed_hosts() == ["example.org"]


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        production().text("DATABASE_URL")


@pytest.mark.parametrize("url", ["sqlite:///db.sqlite3", "mysql://host/name", "nonsense"])
def test_no_other_database_than_postgresql_is_taken(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL must be postgresql"):
        production(DATABASE_URL=url).database_url()
    assert production(DATABASE_URL="postgres://host/name").database_url() == "postgres://host/name"


@pytest.mark.parametrize(
    "url",
    ["", "http://host", "valkey.example.org:6379", "redis://host:port/0", "redis://:a/b@host"],
)
def test_an_address_that_is_not_of_redis_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL"):
        production(REDIS_URL=url).redis_url()
    assert production(REDIS_URL="rediss://:x@host/0").redis_url() == "rediss://:x@host/0"


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "https://", "https://example.org/app", "ftp://x", "https://example.org:x"],
)
def test_a_site_without_its_whole_address_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="SITE_URL"):
        production(SITE_URL=url).site_url()
    assert production(SITE_URL="https://example.org/").site_url() == "https://example.org"


@pytest.mark.parametrize(
    ("name", "value"),
    [("FLAG", "perhaps"), ("NUMBER", "many"), ("NUMBER", "-1"), ("NUMBER", "9" * 5000)],
)
def test_a_value_that_makes_no_sense_is_named(name: str, value: str) -> None:
    env = production(**{name: value})
    with pytest.raises(ImproperlyConfigured, match=name):
        env.flag(name) if name == "FLAG" else env.number(name, 1)


def test_pairs_are_names_with_values() -> None:
    told = production(SUBSCRIBERS="arn:aws:sns:topic=http://127.0.0.1/told?a=b, other=x")
    assert told.pairs("SUBSCRIBERS") == {
        "arn:aws:sns:topic": "http://127.0.0.1/told?a=b",
        "other": "x",
    }
    with pytest.raises(ImproperlyConfigured, match="SUBSCRIBERS"):
        production(SUBSCRIBERS="topic").pairs("SUBSCRIBERS")
    assert production().pairs("SUBSCRIBERS") == {}
