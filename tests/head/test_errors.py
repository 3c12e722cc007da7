"""What becomes of a write by what PostgreSQL says: the table in db/postgresql/states, row by row of contract and manual. The
server itself says it, in a trigger that somebody has added."""

import contextlib
import time

import pytest

from support import postgresql
from support.head_box import place, sold
from support.metrics import of_box
from support.orders import new_id
from support.waiting import wait_until

AGAIN, RECONNECT, REFUSE, FULL, FAIL = "again", "reconnect", "refuse", "full", "fail"
STATES = {
    "40001": AGAIN, "40P01": AGAIN, "55P03": AGAIN, "55006": AGAIN,
    "25006": RECONNECT, "57P01": RECONNECT, "57P02": RECONNECT, "57P03": RECONNECT, "57P05": RECONNECT, "08006": RECONNECT,
    "26000": RECONNECT,
    "57014": REFUSE, "53200": REFUSE, "58000": REFUSE,
    "53100": FULL,
    "22012": FAIL, "23514": FAIL, "42P01": FAIL,
}


@contextlib.contextmanager
def said(head, state, times):
    """The next inserts of an order fail with it. A sequence counts them: a rollback does not bring it back."""
    with head.database() as db:
        db.run("CREATE SEQUENCE failures")
        db.run(f"""
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              IF nextval('failures') <= {times} THEN RAISE EXCEPTION 'planted' USING ERRCODE = '{state}'; END IF;
              RETURN NEW;
            END $$""")
        db.run("CREATE TRIGGER fail BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION fail()")
        yield
        db.run("DROP TRIGGER fail ON orders")


def reconnects(head):
    return of_box(head)['comanda_db_reconnects_total{database="live"}']


@pytest.mark.parametrize("state, outcome", STATES.items())
def test_what_the_server_says_leads_to(head, api, state, outcome):
    references = [new_id() for _ in range(2)]
    before = reconnects(head)
    # A job that lost is tried together with others and then alone; what concerns it alone, once.
    with said(head, state, 2 if outcome in (REFUSE, FULL) else 1):
        begun = time.monotonic()
        answer = place(api, references[0])
        if outcome in (AGAIN, RECONNECT):
            # The session that has the lock is ended; the server itself would end it after 10 s of silence.
            assert time.monotonic() - begun < 8
            assert answer.status == 201, answer.body
        elif outcome == FAIL:
            assert answer.status == 500, answer.body
        else:
            assert answer.status == 503 and answer.headers["retry-after"], answer.body
        # It ends by itself, and nothing was done that was not said to be.
        wait_until(lambda: place(api, references[1]).status == 201, head.log_text)
    assert sold(head, references) == [1 if outcome in (AGAIN, RECONNECT) else 0, 1]
    if outcome != FULL:
        assert (reconnects(head) > before) == (outcome == RECONNECT)


def test_a_server_without_free_connections_is_asked_again(head, api):
    """53300, which is said while connecting."""
    name = head.databases.name
    postgresql._as_admin(head.databases.directory, f"ALTER DATABASE {name} CONNECTION LIMIT 0")
    postgresql._as_admin(head.databases.directory, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    wait_until(lambda: place(api, new_id()).status == 503, head.log_text)
    postgresql._as_admin(head.databases.directory, f"ALTER DATABASE {name} CONNECTION LIMIT -1")
    wait_until(lambda: place(api, new_id()).status == 201, head.log_text)
