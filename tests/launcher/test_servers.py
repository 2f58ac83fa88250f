import os
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg2
import pytest
import redis

from annotation_app import embedded
from tests.launcher.holder import Holder, alive_after, servers_in


def ask(database_url: str, statement: str) -> object:
    with closing(psycopg2.connect(database_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def with_password(url: str, password: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(str(parts.password), password)))


def test_both_servers_answer_while_in_use_and_are_gone_afterwards(new_folder: Path) -> None:
    with embedded.servers(new_folder, durable=False) as urls:
        started = servers_in(new_folder)
        assert ask(urls["DATABASE_URL"], "SELECT current_database()") == "annotation"
        assert redis.Redis.from_url(urls["REDIS_URL"]).ping()
        assert len(started) > 2
    assert alive_after(0, started) == []


@pytest.mark.parametrize(("durable", "fsync"), [(True, "on"), (False, "off")])
def test_only_durable_data_waits_for_the_disk(folder: Path, durable: bool, fsync: str) -> None:
    with embedded.servers(folder, durable=durable) as urls:
        assert ask(urls["DATABASE_URL"], "SHOW fsync") == fsync


def test_nobody_enters_without_the_password(folder: Path) -> None:
    with embedded.servers(folder, durable=False) as urls:
        with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
            ask(with_password(urls["DATABASE_URL"], "guessed"), "SELECT 1")
        with pytest.raises(redis.AuthenticationError):
            redis.Redis.from_url(with_password(urls["REDIS_URL"], "guessed")).ping()


def test_passwords_are_for_their_owner_only(folder: Path) -> None:
    with embedded.servers(folder, durable=False):
        secrets = [*folder.glob("*.password"), folder / "run/urls.json"]
        assert [stat.S_IMODE(path.stat().st_mode) for path in secrets] == [0o600] * 3


def test_passwords_are_on_no_command_line(folder: Path) -> None:
    with embedded.servers(folder, durable=False) as urls:
        lines = [" ".join(child.cmdline()) for child in servers_in(folder)]
    passwords = [str(urlsplit(url).password) for url in urls.values()]
    assert not [line for line in lines for password in passwords if password in line]


def test_a_url_of_the_environment_is_used_and_nothing_is_started_for_it(
    new_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/database")
    with embedded.running_servers(new_folder, durable=False) as servers:
        assert servers.urls["DATABASE_URL"] == "postgresql://elsewhere/database"
        assert redis.Redis.from_url(servers.urls["REDIS_URL"]).ping()
        assert [child.name for child in servers.children] == ["valkey"]
    assert not (new_folder / "postgres").exists()


def test_data_of_another_major_version_is_refused(new_folder: Path) -> None:
    data = new_folder / "postgres"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with (
        pytest.raises(embedded.ServersError, match="PostgreSQL 16, and this is PostgreSQL 18"),
        embedded.servers(new_folder, durable=False),
    ):
        pass
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]


def test_a_folder_is_in_use_by_one_process_at_a_time(folder: Path, holder: Holder) -> None:
    urls = holder.start()
    assert holder.process is not None
    with (
        pytest.raises(embedded.FolderInUse, match=f"in use by process {holder.process.pid}"),
        embedded.servers(folder, durable=False),
    ):
        pass
    assert ask(urls["DATABASE_URL"], "SELECT 1") == 1


def test_kill_9_leaves_no_server_running(holder: Holder) -> None:
    holder.start()
    holder.kill()
    assert holder.servers_alive_after(seconds=5) == []


def test_data_is_still_there_after_kill_9(folder: Path, holder: Holder) -> None:
    urls = holder.start()
    ask(urls["DATABASE_URL"], "CREATE TABLE survivors AS SELECT 42 AS number")
    holder.kill()
    with embedded.servers(folder, durable=False) as urls:
        assert ask(urls["DATABASE_URL"], "SELECT number FROM survivors") == 42


def test_orphans_are_stopped_at_the_next_start(folder: Path, holder: Holder) -> None:
    urls = holder.start("--untied")
    ask(urls["DATABASE_URL"], "CREATE TABLE orphans AS SELECT 42 AS number")
    holder.kill()
    assert holder.servers_alive_after(seconds=0.2) != []
    with embedded.servers(folder, durable=False) as urls:
        assert holder.servers_alive_after(seconds=0) == []
        assert ask(urls["DATABASE_URL"], "SELECT number FROM orphans") == 42


def test_an_old_pid_that_belongs_to_somebody_else_by_now_is_left_alone(
    folder: Path,
) -> None:
    with embedded.servers(folder, durable=False):
        ours = (folder / "run/postgres.pid").read_text()
        pid_line, *rest = (folder / "postgres/postmaster.pid").read_text().splitlines()
    with subprocess.Popen(["sleep", "60"]) as somebody:
        (folder / "run/postgres.pid").write_text(ours.replace(pid_line, str(somebody.pid)))
        (folder / "postgres/postmaster.pid").write_text("\n".join([str(somebody.pid), *rest]))
        with embedded.servers(folder, durable=False) as urls:
            assert ask(urls["DATABASE_URL"], "SELECT 1") == 1
        assert somebody.poll() is None
        somebody.kill()


def test_a_start_that_was_killed_halfway_is_begun_anew(new_folder: Path) -> None:
    unfinished = new_folder / "postgres.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with embedded.servers(new_folder, durable=False) as urls:
        assert ask(urls["DATABASE_URL"], "SELECT 1") == 1
    assert not unfinished.exists()


def test_a_server_that_cannot_start_says_why(new_folder: Path) -> None:
    with embedded.servers(new_folder, durable=False):
        pass
    with (new_folder / "postgres/postgresql.conf").open("a") as configuration:
        configuration.write("no_such_setting = 1\n")
    with (
        pytest.raises(embedded.ServersError, match="no_such_setting"),
        embedded.servers(new_folder, durable=False),
    ):
        pass


def test_data_in_use_is_not_erased(folder: Path, holder: Holder) -> None:
    holder.start()
    with pytest.raises(embedded.FolderInUse):
        embedded.erase_data(folder)
    assert (folder / "postgres").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root runs the servers as whoever owns the data")
def test_data_of_another_user_is_refused(new_folder: Path) -> None:
    new_folder.mkdir()
    (new_folder / "postgres").symlink_to("/")
    with (
        pytest.raises(embedded.ServersError, match="belongs to another user"),
        embedded.servers(new_folder, durable=False),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused() -> None:
    with (
        pytest.raises(embedded.ServersError, match="cannot be written"),
        embedded.servers(Path("/not/ours"), durable=False),
    ):
        pass
