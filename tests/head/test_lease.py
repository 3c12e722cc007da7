"""An owner whose lease has run out answers nothing until a commit has shown that the database is still its own; and where a
server may have lost commits, cursors end."""

import contextlib
import signal
import threading
import time

from support import postgresql
from support.box import PATIENCE_S
from support.head_box import is_ready, place, sold
from support.orders import new_id
from support.waiting import wait_until

LEASE_S = 5  # Lease::kMs


def unchanged(api, **headers):
    """A read that is answered from memory."""
    tag = api.get("/v1/orders").etag
    assert api.get("/v1/orders", **{"If-None-Match": tag}).status == 304
    return {"If-None-Match": tag, **headers}


def restored(head):
    return head.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'")


# The lease

def test_answers_without_commits_keep_no_lease(head, api):
    """A former primary that wakes up is read as before, but none of its commits reaches a standby."""
    headers = unchanged(api)
    head.proxy.hang_in_commits()
    wait_until(lambda: api.get("/v1/orders", **headers).status == 503, head.log_text)
    time.sleep(2)
    assert api.get("/v1/orders", **headers).status == 503
    head.proxy.go_on()
    wait_until(lambda: api.get("/v1/orders", **headers).status == 304, head.log_text)


def test_a_request_that_outlives_the_lease_is_not_answered_from_memory(head, api):
    waiting = unchanged(api, Prefer=f"wait={LEASE_S + 4}")
    answers = []
    poll = threading.Thread(target=lambda: answers.append(api.get("/v1/orders", **waiting)))
    poll.start()
    time.sleep(0.5)
    head.proxy.hang()
    poll.join(PATIENCE_S)
    assert [answer.status for answer in answers] == [503], answers
    head.proxy.go_on()


def test_a_write_behind_a_stop_is_answered_once_it_is_certain(head, api):
    """The process is stopped for longer than its lease while a COMMIT is under way; nobody took the database over meanwhile."""
    place(api, new_id())
    reference, answers = new_id(), []
    head.proxy.hang_in_commits()
    till = threading.Thread(target=lambda: answers.append(place(api, reference)))
    till.start()
    time.sleep(1)
    head.signal(signal.SIGSTOP)
    head.proxy.go_on()
    time.sleep(LEASE_S + 1)
    head.signal(signal.SIGCONT)
    till.join(PATIENCE_S)
    assert [answer.status for answer in answers] == [201], answers
    assert sold(head, [reference]) == [1]


# Two primaries

def test_a_former_primary_acknowledges_nothing_behind_a_pause(head, api):
    """Where commits wait for no standby, a primary that hung and wakes goes on as before, while another one serves."""
    place(api, new_id())
    head.stop()
    with contextlib.closing(postgresql.Server(copy_of=head.databases)) as other:
        settings = head.settings_file.read_text()
        head.settings_file.write_text(settings.replace(head.proxy.directory, f"{head.proxy.directory},{other.directory}"))
        head.start()
        wait_until(lambda: is_ready(head), head.log_text)
        reference, answers = new_id(), []
        head.proxy.hang_in_commits()

        def sell():
            with contextlib.suppress(OSError, ValueError):
                answers.append(place(api, reference).status)

        till = threading.Thread(target=sell)
        till.start()
        time.sleep(1)
        other.promote()
        time.sleep(LEASE_S)
        head.proxy.go_on()
        assert head.process.wait(PATIENCE_S) == 70
        till.join(PATIENCE_S)
        assert answers in ([], [503]), answers
        assert "says as well that it is the primary" in head.log_text()
        # Nor does anybody begin on either of them, until only one is left.
        head.launch()
        assert head.process.wait(PATIENCE_S) == 70
        head.settings_file.write_text(settings.replace(head.proxy.directory, f"{other.directory},{head.proxy.directory}"))
        head.launch()
        assert head.process.wait(PATIENCE_S) == 70
        head.settings_file.write_text(settings.replace(head.proxy.directory, f"{other.directory},/nowhere"))
        head.start()
        wait_until(lambda: is_ready(head), head.log_text)
        head.stop()


# Another history of the server

def test_a_take_over_on_another_timeline_raises_the_epochs_once(head, api):
    """Whichever process takes over, on a machine that has served it before or not."""
    cursor = api.get("/v1/events").json["next"]
    head.stop()
    with head.database() as db:
        assert db.rows("SELECT timeline FROM owner") == [("00000001",)]
        db.execute("UPDATE owner SET timeline = '00000000'")
    for begun in range(2):
        head.start()
        wait_until(lambda: is_ready(head), head.log_text)
        assert restored(head) == 1
        api.close()
        head.stop()
    head.start()
    wait_until(lambda: is_ready(head), head.log_text)
    assert api.get(f"/v1/events?after={cursor}").status == 410
    assert head.value("SELECT timeline FROM owner") == "00000001"


def test_a_machine_that_never_served_it_notices_another_timeline(head, second, api):
    cursor = api.get("/v1/events").json["next"]
    head.kill()
    with head.database() as db:
        db.execute("UPDATE owner SET timeline = '00000000'")
    second.start()
    wait_until(lambda: is_ready(second), second.log_text)
    client = second.client(api.key)
    assert client.get(f"/v1/events?after={cursor}").status == 410
    client.close()


def test_the_same_timeline_raises_nothing(head, second, api):
    cursor = api.get("/v1/events").json["next"]
    head.kill()
    second.start()
    wait_until(lambda: is_ready(second), second.log_text)
    client = second.client(api.key)
    assert client.get(f"/v1/events?after={cursor}").status == 200
    client.close()
    assert restored(head) == 0
