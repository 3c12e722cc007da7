"""The database of a head office is set back to a minute ago with pgBackRest: cursors end, and the boxes that are linked to it go on.
What they had sent after that minute is missing there: they send it again, by their journals."""

import pathlib
import time

import pytest

from support import postgresql
from support.cloud_pair import Pair
from support.waiting import wait_until

CONFIG = """[global]
repo1-path={directory}/backups
log-path={directory}
lock-path={directory}
spool-path={directory}
start-fast=y
log-level-console=warn
[cell]
pg1-path={directory}/data
pg1-socket-path={directory}
pg1-user=postgres
"""
# Its directory has no name yet when its options are made.
ARCHIVE = "pgbackrest --config=$(dirname $PWD)/pgbackrest.conf --stanza=cell archive-push %p"


@pytest.fixture
def server(monkeypatch):
    server = postgresql.Server(["-c", "archive_mode=on", "-c", "archive_command=" + ARCHIVE])
    monkeypatch.setenv(postgresql.ADDRESS, server.directory)
    pathlib.Path(server.directory, "pgbackrest.conf").write_text(CONFIG.format(directory=server.directory))
    server.pgbackrest = lambda *words: server.run("pgbackrest", f"--config={server.directory}/pgbackrest.conf", "--stanza=cell", *words)
    yield server
    for name in [name for name, directory in postgresql.Database.made.items() if directory == server.directory]:
        postgresql.Database.made.pop(name)
    server.close()


def now(server):
    return postgresql._as_admin(server.directory, "SELECT clock_timestamp()::text")[0][0]


def test_cursors_end_and_boxes_go_on_where_a_head_office_was_set_back(tmp_path, server, seed):
    with Pair(tmp_path, seed) as pair:
        pair.link()
        till = pair.till()
        kept = [till.serve() for _ in range(3)] + [till.open(service_type="ONSITE") for _ in range(3)]
        pair.settle()
        server.pgbackrest("stanza-create")
        server.pgbackrest("--type=full", "backup")
        kept += [till.finish(till.open(service_type="ONSITE")) for _ in range(3)]
        pair.settle()
        cloud = pair.cloud.client(pair.cloud_key)
        time.sleep(1.5)
        minute = now(server)
        time.sleep(1.5)
        for order in kept[3:6]:
            till.finish(order)
        for _ in range(3):
            till.finish(till.open(service_type="ONSITE"))
        pair.settle()
        pair.compare()
        cursor = cloud.get("/v1/events").json["next"]
        cloud.close()

        pair.cloud.stop()
        postgresql._as_admin(server.directory, "SELECT pg_switch_wal()")
        server.stop()
        server.pgbackrest("--delta", "--type=time", f"--target={minute}", "--target-action=promote", "restore")
        server.start_again()
        wait_until(lambda: postgresql._as_admin(server.directory, "SELECT pg_is_in_recovery()") == [(False,)], server.log_text)
        pair.cloud.start()
        wait_until(lambda: pair.cloud.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'") == 1, pair.cloud.log_text)
        refused = wait_until(lambda: pair.cloud.client(pair.cloud_key).get(f"/v1/events?after={cursor}"), "no answer")
        assert refused.status == 410, refused.body

        # A till goes on meanwhile. Both sides are equal in the end.
        with pair.proxy.lock:
            pair.proxy.exchanges.clear()  # an order that is placed again has another path
        till.finish(till.open(service_type="ONSITE"))

        def is_equal():
            pair.settle()
            with pair.proxy.lock:
                pair.proxy.exchanges[:] = [e for e in pair.proxy.exchanges if e.status != 404]  # of orders that were lost
            pair.compare()

        pair.eventually(is_equal)
        assert pair.parked() == [] and pair.differences() == []
