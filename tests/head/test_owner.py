"""comanda-head and its database: one process owns it, a commit whose answer is lost is looked up, a server that hangs or goes
away is no wrong answer."""

import contextlib
import signal
import threading
import time

import pytest

from support.box import PATIENCE_S, Client
from support.head_box import is_ready, place, sold, states
from support.metrics import of_box
from support.orders import new_id
from support.waiting import wait_until


DEADLINE_S = 33  # Connection::kWriteMaxMs, and the server's last chance


# One owner

def test_a_second_process_waits_and_takes_over(head, second, api):
    before = api.place()
    second.launch()
    wait_until(lambda: "standby of" in second.log_text(), second.log_text)
    wait_until(second._answers, second.log_text)
    status, checks = states(second)
    assert status == 503 and checks["standby"].startswith("standby of ") and checks["standby"].endswith(", term 2"), checks
    waiting = second.client("any")
    for path, expected in (("/healthz", 200), ("/metrics", 200), ("/v1/orders", 503)):
        assert waiting.get(path).status == expected, path
    refused = waiting.get("/v1/orders")
    assert refused.json["code"] == "standby" and refused.headers["retry-after"] == "2"
    waiting.close()
    head.kill()
    begun = time.monotonic()
    wait_until(lambda: is_ready(second), second.log_text)
    print("taken over after", time.monotonic() - begun, "s")
    heir = second.client(api.key)
    assert heir.get(f"/v1/orders/{before['id']}").data["id"] == before["id"]
    # A take-over is no restored backup: cursors and tags go on.
    assert head.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'") == 0
    heir.close()
    # The former one comes back as the standby.
    head.launch()
    wait_until(lambda: "standby of" in head.log_text(), head.log_text)


def test_a_command_beside_a_server_on_another_machine_is_refused(head, second):
    done = second.command("keys", "list", "--data", str(second.data), check=False)
    assert done.returncode == 1, done
    assert "another process serves the database, on " in done.stderr and done.stderr.startswith("comanda-head: ")


def test_who_lost_the_lock_cannot_commit(head, second, api):
    """As after a pause of the whole machine: the server has freed the lock, and another process has taken it."""
    place(api, new_id())
    head.signal(signal.SIGSTOP)
    with head.database() as db:
        db.rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
    second.start()
    wait_until(lambda: is_ready(second), second.log_text)
    reference = new_id()
    head.signal(signal.SIGCONT)
    with pytest.raises(Exception):
        answer = place(api, reference)
        assert answer.status == 503, answer.body
        raise ConnectionError("it said that it is not done")
    assert head.process.wait(PATIENCE_S) == 70
    assert sold(head, [reference]) == [0]


def test_an_owner_whose_term_has_passed_starts_again(head, second, api):
    """Another one has served and is gone again: what is kept in memory is not true any more, although the lock is free."""
    place(api, new_id())
    head.signal(signal.SIGSTOP)
    with head.database() as db:
        db.rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
    second.start()
    wait_until(lambda: is_ready(second), second.log_text)
    other = second.client(api.key)
    assert place(other, new_id()).status == 201
    other.close()
    second.kill()
    head.signal(signal.SIGCONT)
    assert head.process.wait(PATIENCE_S) == 70


def test_the_lock_is_the_writers(head, api):
    """Who loses it knows at once: it goes with the connection that writes."""
    place(api, new_id())
    before = of_box(head)
    with head.database() as db:
        db.rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
    wait_until(lambda: place(api, new_id()).status == 201, head.log_text)
    metric = 'comanda_db_reconnects_total{database="live"}'
    assert of_box(head)[metric] == before[metric] + 1


# Unknown commits

def test_a_commit_whose_answer_is_lost_is_answered_once(head, api):
    """Each caller gets the answer to what is there, and the order is there once."""
    references = [new_id() for _ in range(20)]
    head.proxy.fail("answer", times=1)
    for reference in references:
        if reference != references[0]:
            head.proxy.fail("answer")
        answer = place(api, reference)
        assert answer.status == 201, (answer.status, answer.body)
    assert head.proxy.failed == 20
    assert sold(head, references) == [1] * 20
    metrics = head.client().get("/metrics").body.decode()
    assert 'comanda_db_unknown_commits_total{database="live",outcome="committed"} 20' in metrics


def test_a_commit_that_did_not_arrive_is_done_again(head, api):
    references = [new_id() for _ in range(10)]
    for reference in references:
        head.proxy.fail("before")
        answer = place(api, reference)
        assert answer.status == 201, (answer.status, answer.body)
    assert sold(head, references) == [1] * 10


def test_a_write_without_a_key_is_done_once_whatever_becomes_of_the_answer(head, api):
    """A reference is unique, so that an order that is placed twice is one: a payment is not."""
    order = api.place()
    path = f"/v1/orders/{order['id']}/payments"
    for n in range(10):
        head.proxy.fail(("answer", "before")[n % 2])
        paid = api.post(path, {"payment_method_code": "cash", "amount": 1})
        assert paid.status == 200, paid.body
        assert len(paid.data["payments"]) == n + 1
    assert head.value("SELECT count(*) FROM payment WHERE order_id = ?", order["id"]) == 10


def test_a_commit_that_is_rolled_back_is_no_commit(head, api):
    """The server answers ROLLBACK, and no error."""
    references = [new_id() for _ in range(5)]
    for reference in references:
        head.proxy.fail("rollback")
        answer = place(api, reference)
        assert answer.status == 201, answer.body
    assert head.proxy.failed == 5
    assert sold(head, references) == [1] * 5


def test_a_commit_that_hangs_is_left(head, api):
    """For ever: the server is alive to its kernel, and nothing that TCP does would end it."""
    place(api, new_id())
    reference = new_id()
    head.proxy.hang_in_commits()

    def sell():
        with contextlib.suppress(OSError):  # a till does not wait that long
            place(api, reference)

    till = threading.Thread(target=sell)
    begun = time.monotonic()
    till.start()
    # The server is asked again by a new connection, which it answers.
    wait_until(lambda: "the answer to a commit is lost" in head.log_text(), head.log_text, DEADLINE_S + PATIENCE_S)
    assert time.monotonic() - begun < DEADLINE_S + 10
    head.proxy.go_on()
    till.join(PATIENCE_S * 2)
    again = head.client(api.key)
    wait_until(lambda: place(again, reference).status == 201, head.log_text)
    again.close()
    assert sold(head, [reference]) == [1]


def test_many_tills_through_lost_connections(head, api):
    """Of a group of orders each is there once, or its till was told that it is not."""
    references = [[new_id() for _ in range(12)] for _ in range(8)]
    told = {}

    def sell(mine):
        client = head.client(api.key)
        for reference in mine:
            told[reference] = place(client, reference).status
        client.close()

    tills = [threading.Thread(target=sell, args=(mine,)) for mine in references]
    for till in tills:
        till.start()
    for n in range(12):
        head.proxy.fail(("answer", "before")[n % 2])
    for till in tills:
        till.join(PATIENCE_S * 4)
        assert not till.is_alive()
    assert set(told.values()) <= {201, 503}
    flat = [reference for mine in references for reference in mine]
    assert sold(head, flat) == [1 if told[reference] == 201 else 0 for reference in flat]
    seqs = [seq for seq, in head.rows("SELECT seq FROM event WHERE company_id = 1 ORDER BY seq")]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "a gap"


# A server that goes away, hangs, or goes back

def test_connections_that_end_are_replaced(head, api):
    for _ in range(3):
        with head.database() as db:
            db.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'comanda-head' AND datname = current_database() AND pid <> pg_backend_pid()")
        wait_until(lambda: place(api, new_id()).status == 201, head.log_text)
        assert api.get("/v1/orders").status in (200, 503)
        wait_until(lambda: api.get("/v1/orders").status == 200, head.log_text)


def test_nothing_is_answered_while_the_server_hangs(head, api):
    """From memory neither: another process may serve by then."""
    tag = api.get("/v1/orders").etag
    assert api.get("/v1/orders", **{"If-None-Match": tag}).status == 304
    head.proxy.hang()
    wait_until(lambda: api.get("/v1/orders", **{"If-None-Match": tag}).status == 503, head.log_text)
    refused = api.get("/v1/orders")
    assert refused.status == 503 and refused.headers["retry-after"] == "2", refused.body
    sandbox = Client(head.sandbox_port, None, str(head.cafile))
    assert sandbox.get("/v1/orders").status == 503 and sandbox.get("/healthz").status == 200
    sandbox.close()
    head.proxy.go_on()
    wait_until(lambda: api.get("/v1/orders").status == 200, head.log_text)
    wait_until(lambda: place(api, new_id()).status == 201, head.log_text)


def test_a_database_that_went_back_raises_the_epochs(head, api):
    """Commits that were acknowledged are missing: as after a restored backup, cursors end."""
    cursor = api.get("/v1/events").json["next"]
    for _ in range(3):
        api.place()
    head.stop()
    with head.database() as db:
        db.execute("UPDATE owner SET commits = commits - 2")
    head.start()
    wait_until(lambda: is_ready(head), head.log_text)
    gone = api.get(f"/v1/events?after={cursor}")
    assert gone.status == 410, gone.body
    assert head.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'") == 1


# What is refused at the start

@pytest.mark.parametrize("change, said", [
    ("ALTER TABLE orders DROP COLUMN comment CASCADE", "the column orders.comment is missing"),
    ("UPDATE schema_version SET version = 9999", "it was used by a newer program"),
])
def test_a_schema_that_cannot_be_served_is_refused(head, change, said):
    head.stop()
    with head.database() as db:
        db.execute(change)
    head.launch()
    assert head.process.wait(PATIENCE_S) == 70
    assert said in head.log_text()


def test_a_dropped_index_is_named_and_served(head):
    head.stop()
    with head.database() as db:
        db.execute("DROP INDEX orders_client")
    head.start()
    assert "the index orders_client of the table orders is missing" in head.log_text()


@pytest.mark.parametrize("words, said", [
    ("password=x", "must not have password="), ("host=10.0.0.1", "sslmode"), ("host=/tmp", "must name the database")])
def test_a_setting_that_is_not_safe_is_refused(head, words, said):
    head.settings_file.write_text("database = " + words + ("" if "dbname" in said or "host=/tmp" in words else " dbname=x") + "\n")
    done = head.command("config", "--data", str(head.data), check=False)
    assert done.returncode == 1 and said in done.stderr, done


def test_words_of_the_box_say_what_to_do_here(head):
    for word in ("backup", "restore", "drill", "verify", "doctor", "cloud", "provider"):
        done = head.command(word, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
