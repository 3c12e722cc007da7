"""What comanda-head refuses to start on, with what to do about it, and what it waits for however long that takes."""

import contextlib
import json
import os
import subprocess
import time

import pytest

from support import postgresql
from support.box import PATIENCE_S, Box
from support.head_box import is_ready, states
from support.head_office import free_network
from support.postgresql_proxy import Proxy
from support.waiting import wait_until


OTHER = f"other_{os.getpid()}"  # the run's processes have one server


@pytest.fixture
def box():
    """A data directory alone."""
    box = Box(engine="postgresql")
    yield box
    box.discard()


@contextlib.contextmanager
def database(server, words="OWNER comanda TEMPLATE template0 ENCODING UTF8 LOCALE 'C'"):
    name = OTHER
    postgresql._as_admin(server, f"CREATE DATABASE {name} {words}")
    try:
        yield f"database = host={server} dbname={name} user=comanda\n"
    finally:
        postgresql._as_admin(server, f"DROP DATABASE {name} WITH (FORCE)")


def refuses(box, settings, *said):
    box.settings_file.write_text(settings)
    box.launch()
    assert box.process.wait(PATIENCE_S) == 70, box.log_text()
    for words in said:
        assert words in box.log_text(), box.log_text()[-2000:]


def waits(box, settings, *said):
    """/readyz says why, whatever path is asked; the process goes on trying."""
    box.settings_file.write_text(settings)
    box.launch()
    wait_until(box._answers, box.log_text)

    def is_said():
        status, checks = states(box)
        return status == 503 and all(words in checks["standby"] for words in said)

    wait_until(is_said, lambda: str(states(box)))
    client = box.client("any")
    assert client.get("/v1/orders").status == 503
    client.close()
    time.sleep(1.5)
    assert box.process.poll() is None and states(box)[0] == 503


# Refused

@pytest.mark.parametrize("words, said", [
    ("OWNER comanda TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'", "ENCODING UTF8"),
    ("OWNER comanda TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", "ENCODING UTF8"),
    ("OWNER comanda TEMPLATE template0 ENCODING UTF8 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C'", "LOCALE 'C'"),
    ("OWNER comanda TEMPLATE template0 ENCODING UTF8 LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'", "LOCALE 'C'"),
    ("TEMPLATE template0 ENCODING UTF8 LOCALE 'C'", "OWNER TO comanda` makes it the owner")])
def test_a_database_that_was_made_otherwise_is_refused(head, box, words, said):
    head.stop()
    with database(head.databases.directory, words=words) as settings:
        refuses(box, settings, said)


@pytest.mark.parametrize("setting, said", [
    ("synchronous_commit = off", "set synchronous_commit = on"), ("standard_conforming_strings = off", "")])
def test_a_database_that_forgets_is_refused(head, box, setting, said):
    with database(head.databases.directory) as settings:
        postgresql._as_admin(head.databases.directory, f"ALTER DATABASE {OTHER} SET {setting}")
        if said:
            refuses(box, settings, said)
        else:  # each connection sets it itself
            box.settings_file.write_text(settings)
            box.start()
            wait_until(lambda: is_ready(box), box.log_text)
            box.stop()


def test_a_server_that_does_not_sync_is_refused(box):
    with contextlib.closing(postgresql.Server(["-c", "fsync=off"])) as server, database(server.directory) as settings:
        refuses(box, settings, "set fsync = on")


def test_a_server_of_an_older_version_is_refused(head, box):
    version = postgresql._as_admin(head.databases.directory, "SHOW server_version_num")[0][0].encode()
    proxy = Proxy(head.databases.directory)
    try:
        proxy.changed = {version: b"140012"}
        with database(head.databases.directory) as settings:
            refuses(box, settings.replace(head.databases.directory, proxy.directory), "version 14", "install PostgreSQL 15 or later")
    finally:
        proxy.close()


def test_a_pooler_is_refused(head, box):
    proxy = Proxy(head.databases.directory)
    proxy.is_pooler = True
    try:
        with database(head.databases.directory) as settings:
            refuses(box, settings.replace(head.databases.directory, proxy.directory), "there is a pooler", "must name the server itself")
    finally:
        proxy.close()


def test_a_schema_of_another_program_is_refused(head, box):
    with database(head.databases.directory) as settings:
        with contextlib.closing(postgresql.connect(head.databases.directory, OTHER, "comanda")) as other:
            other.cursor().execute("CREATE SCHEMA live")
            other.cursor().execute("CREATE TABLE live.orders (id bigint)")
        refuses(box, settings, "is another program's", "name another database")


# Waited for

def test_hosts_that_are_down_are_waited_for(head, box):
    waits(box, "database = host=/nowhere,/elsewhere dbname=x user=comanda\n", "/nowhere/.s.PGSQL.5432", "/elsewhere/.s.PGSQL.5432")
    # And served once one is there.
    head.stop()
    box.stop()
    box.settings_file.write_text(f"database = host=/nowhere,{head.proxy.directory} dbname={head.databases.name} user=comanda\n")
    box.start()
    wait_until(lambda: is_ready(box), box.log_text)


def test_servers_that_are_all_read_only_are_waited_for(head, box):
    with contextlib.closing(postgresql.Server(copy_of=head.databases)) as standby:
        settings = f"database = host={standby.directory} dbname={head.databases.name} user=comanda\n"
        waits(box, settings, "server is in hot standby mode")
        head.stop()
        standby.promote()
        wait_until(lambda: is_ready(box), box.log_text)
        box.stop()


@pytest.fixture
def with_tls(tmp_path):
    """A server on TCP that asks for a password, with a certificate that nobody has signed."""
    key, certificate = tmp_path / "server.key", tmp_path / "server.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    for file in (key, certificate):
        if os.geteuid() == 0:
            subprocess.run(["chown", postgresql.USER, file], check=True)
        file.chmod(0o600)
    directory = tmp_path
    while directory != directory.parent:
        directory.chmod(directory.stat().st_mode | 0o011)
        directory = directory.parent
    address = free_network() + "1"
    yield address, ["-c", f"listen_addresses={address}", "-c", "ssl=on", "-c", f"ssl_key_file={key}", "-c", f"ssl_cert_file={certificate}"]


@pytest.mark.parametrize("sslmode, said", [("verify-full", "root certificate"), ("require", "password authentication failed")])
def test_who_is_not_trusted_is_waited_for_and_no_password_is_logged(box, with_tls, sslmode, said):
    address, options = with_tls
    hba = f"local all {postgresql.USER} trust\nhostssl all all 127.0.0.0/8 scram-sha-256\n"
    with contextlib.closing(postgresql.Server(options, hba=hba)):
        secret = "not-the-password-4711"
        (box.data / "password").write_text(secret + "\n")
        (box.data / "password").chmod(0o600)
        waits(box, f"database = host={address} dbname=postgres user=comanda sslmode={sslmode}\n"
              f"database_password_file = {box.data}/password\n", said)
        assert secret not in box.log_text() and secret not in json.dumps(states(box)[1])


# Many

def test_of_ten_processes_one_serves(head, seed):
    boxes = [head]
    try:
        for _ in range(9):
            box = Box(engine="postgresql")
            box.settings_file.write_text(head.databases.settings)
            boxes.append(box)
            box.launch()
        for box in boxes:
            wait_until(box._answers, box.log_text)
        for _ in range(3):
            serving = [box for box in boxes if is_ready(box)]
            assert len(serving) == 1, [states(box) for box in boxes]
            serving[0].kill()
            boxes.remove(serving[0])
            wait_until(lambda: any(is_ready(box) for box in boxes), lambda: "nobody serves")
            time.sleep(1)
        assert sum(bool(is_ready(box)) for box in boxes) == 1
    finally:
        for box in boxes:
            if box is not head:
                box.discard()
