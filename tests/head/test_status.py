"""What comanda-head says of the servers of its database: status, /readyz, metrics, and the log at the start."""

import contextlib
import json
import os
import re
import socket
import subprocess
import uuid

import pytest

from support import postgresql
from support.box import Box, free_port
from support.metrics import of_box
from support.waiting import wait_until


def status(box, *words, check=True, env=None):
    box.env = env
    done = box.command("status", "--data", str(box.data), *words, check=check)
    box.env = None
    return done


def status_json(box):
    return json.loads(status(box, "--json").stdout)


@pytest.fixture
def standby():
    """Of the server of the run, by its own program: a stream of the log, which is synchronous where its name is."""
    server = os.environ[postgresql.ADDRESS]
    name = "copy_" + uuid.uuid4().hex[:8]
    as_user = {"user": postgresql.USER, "group": postgresql.USER, "extra_groups": []} if os.geteuid() == 0 else {}
    directory = f"{server}/{name}"
    receiver = subprocess.Popen(["sh", "-c", f'mkdir {directory} && exec {postgresql.programs()}/pg_receivewal -h {server} -U postgres '
                                 f'--synchronous -D {directory} -d "application_name={name}"'], cwd="/", **as_user)
    yield name
    receiver.kill()
    receiver.wait()


def as_admin(sql):
    with contextlib.closing(postgresql.connect(os.environ[postgresql.ADDRESS], "postgres", postgresql.USER)) as connection:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def synchronous(name):
    """Commits wait for that standby. At its end none does."""
    wait_until(lambda: as_admin(f"SELECT 1 FROM pg_stat_replication WHERE application_name = '{name}'"), "the standby")
    as_admin(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
    as_admin("SELECT pg_reload_conf()")
    try:
        wait_until(lambda: as_admin("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"), "a synchronous standby")
        yield
    finally:
        as_admin("ALTER SYSTEM RESET synchronous_standby_names")
        as_admin("SELECT pg_reload_conf()")


def readiness(box):
    with contextlib.closing(box.client()) as client:
        return client.get("/readyz").json["checks"]["database"]["state"]


def test_status_beside_a_server_and_without_one(head, second):
    """Also on a machine where it does not run: it asks the database itself."""
    for box in (head, second):
        found = status_json(box)
        assert re.fullmatch(r"/.+:5432", found["server"]) and re.match(r"\d\d", found["version"])
        assert found["live"]["owner"] == found["sandbox"]["owner"] == socket.gethostname()
        assert found["live"]["term"] == 2 and found["live"]["commits"] > 0, "the import's was the first"
        assert found["standbys"] == []
        assert 2 <= found["connections"]["own"] <= found["connections"]["all"] < found["connections"]["max"]
        text = status(box).stdout
        assert f"served by {socket.gethostname()}, term 2, " in text and "standbys     none\n" in text, text
    head.stop()
    found = status_json(head)
    assert found["live"]["owner"] is None and found["live"]["term"] == 2
    assert "nobody serves it, term 2" in status(head).stdout


def test_a_database_that_was_never_served(tmp_path):
    box = Box(tmp_path / "data", engine="postgresql")
    box.settings = ""
    found = status_json(box)
    assert found["live"] is None and found["sandbox"] is None and found["version"]
    assert "never served" in status(box).stdout
    box.databases.drop()


def test_each_host_that_does_not_answer_says_why(tmp_path):
    box = Box(tmp_path / "data", engine="postgresql")
    box.settings = ""
    first, other = free_port(), free_port()
    box.settings_file.write_text(f"database = host=127.0.0.1,/nowhere port={first},{other} dbname=comanda user=comanda\n")
    done = status(box, check=False)
    assert done.returncode == 70 and done.stdout == "", done
    assert re.search(rf'"127.0.0.1", port {first} failed: Connection refused', done.stderr), done.stderr
    assert re.search(rf'"/nowhere/.s.PGSQL.{other}" failed: No such file', done.stderr), done.stderr


def test_standbys_are_shown(head, standby):
    assert "no standby of the database is synchronous" in head.log_text()
    with synchronous(standby):
        found, = status_json(head)["standbys"]
        assert (found["name"], found["state"], found["sync_state"], found["in_sync"]) == (standby, "streaming", "sync", True)
        assert f"standby      {standby}, streaming, in sync, " in status(head).stdout
        wait_until(lambda: ", 1 standbys, 1 in sync, " in readiness(head), lambda: readiness(head))
        head.stop()
        head.log_path.write_text("")
        head.start()
        assert "no standby" not in head.log_text()


def test_without_pg_monitor_standbys_are_not_shown(head, standby):
    head.stop()
    user = "plain_" + uuid.uuid4().hex[:8]
    as_admin(f"CREATE ROLE {user} LOGIN IN ROLE {postgresql.ROLE}")
    as_admin(f"REVOKE pg_monitor FROM {postgresql.ROLE}")
    try:
        head.start()
        assert "GRANT pg_monitor" in head.log_text()
        assert status_json(head)["standbys"] is None
        assert "not shown: GRANT pg_monitor" in status(head).stdout
        assert re.search(r"^writable, \S+, term 3$", readiness(head))
    finally:
        as_admin(f"GRANT pg_monitor TO {postgresql.ROLE}")
        as_admin(f"DROP ROLE {user}")


def test_the_start_says_how_many_connections_it_may_take(head):
    found = re.findall(r"connected to the database database=(\w+) host=\S+ connections_at_most=(\d+) max_connections=(\d+)",
                       head.log_text())
    assert found == [("live", "8", str(postgresql.CONNECTIONS_MAX)), ("test", "8", str(postgresql.CONNECTIONS_MAX))]


def test_metrics_of_the_connection(head):
    found = of_box(head)
    assert found["comanda_db_round_trips_total"] > 0
    for database in ("live", "test"):
        assert found[f'comanda_db_term{{database="{database}"}}'] == 2 if database == "live" else 1
        assert found[f'comanda_db_reconnects_total{{database="{database}"}}'] == 0
        for outcome in ("committed", "lost"):
            assert found[f'comanda_db_unknown_commits_total{{database="{database}",outcome="{outcome}"}}'] == 0
    connected = 'comanda_db_connected_seconds{database="live"}'
    assert 0 < found[connected] < 60
    wait_until(lambda: of_box(head)[connected] > 3, "three seconds")
    with head.database() as db:
        db.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'comanda-head' "
                "AND datname = current_database() AND pid <> pg_backend_pid()")
    wait_until(lambda: of_box(head)['comanda_db_reconnects_total{database="live"}'] == 1, "a reconnect")
    assert of_box(head)[connected] < 3


# The password

@pytest.mark.parametrize("mode, is_credential, is_taken", [
    (0o600, False, True), (0o400, False, True), (0o640, False, False), (0o604, False, False),
    (0o400, True, True), (0o440, True, True), (0o444, True, False)])
def test_a_password_that_others_may_read_is_refused(head, tmp_path, mode, is_credential, is_taken):
    """systemd gives a credential with mode 0440 and an access list for the user of the service."""
    file = tmp_path / "database-password"
    file.write_text("secret\n")
    file.chmod(mode)
    if is_credential:
        done = status(head, check=False, env={"CREDENTIALS_DIRECTORY": str(tmp_path)})
    else:
        head.settings_file.write_text(head.settings_file.read_text() + f"database_password_file = {file}\n")
        done = status(head, check=False)
    assert (done.returncode == 0) == is_taken, done
    if not is_taken:
        assert "chmod 600" in done.stderr and "secret" not in done.stderr
