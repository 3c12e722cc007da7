"""The machine's clock jumps while the server runs (contract section 1, Timestamps): orders go on, their order, ids and
numbers stay right, nothing expires or is forgotten too early, and no deadline is missed or called too early."""

import contextlib
import datetime
import json
import random
import re
import signal
import ssl
import threading
import time

import pytest

from support import pairing
from support.box import PATIENCE_S, Box
from support.receiver import LOOPBACK, Receiver
from support.tills import Restaurant
from support.wall_clock import ClockBox, until

DAY = 86400
YEAR = 365 * DAY
SOON_S = 2 * PATIENCE_S  # between two moments of a test, on a busy machine


def ahead_of(year, month=1, day=1):
    return datetime.datetime(year, month, day, tzinfo=datetime.timezone.utc).timestamp() - time.time()


JUMPS = {
    "a day": DAY, "a day back": -DAY, "a year": YEAR, "a year back": -YEAR, "1970": ahead_of(1970) + 60,
    "the last second of 32 bits": ahead_of(2038, 1, 19) + 3 * 3600 + 14 * 60 + 7, "2106": ahead_of(2106, 2, 8),
    "after 2200": ahead_of(2200), "the hour that clocks go back": 3600, "the hour that they go forth": -3600,
}


def seconds(instant):
    return datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


def in_seconds(ahead):
    at = datetime.datetime.fromtimestamp(time.time() + ahead, datetime.timezone.utc)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Clocked(ClockBox):
    """Its clients accept a certificate that is valid at the wrong time of the box: the server makes one soon after a jump
    (test_clock_certificates.py)."""

    def client(self, key=None, address="127.0.0.1"):
        return self.client_without_dates(key)


def is_accepted_by_dates(box):
    try:
        with contextlib.closing(Box.client(box)) as client:
            return client.get("/healthz").status == 200
    except ssl.SSLCertVerificationError:
        return False


@pytest.fixture
def box():
    box = Clocked(options=["--sandbox-listen", "", "--workers", "16"])
    box.bring_in("demo")
    yield box
    box.discard()


@pytest.fixture
def key(box):
    return box.make_key()["key"]


def audit(box):
    shown = json.loads(box.command("audit", "--data", str(box.data), "--json").stdout)["data"]
    return [entry for entry in shown if entry["actor"] == "clock"]


def test_orders_go_on_through_jumps_and_keep_their_order(box, key):
    box.start()
    placed = []
    with contextlib.closing(box.client(key)) as client:
        for ahead in [0, *JUMPS.values(), 0]:
            box.set_ahead(ahead)
            for _ in range(2):
                order = client.place()
                client.add(order, {"product_name": "Jalea", "quantity": 1, "variant_price": 20})
                client.pay(order, 20)
                done = client.advance(order, "FINALIZED")
                assert (done["paid"], done["version"]) == (True, 4)
                assert abs(seconds(done["created_at"]) - time.time() - ahead) < SOON_S
                placed.append(done)
        events = []
        cursor = ""
        while page := client.get(f"/v1/events?per_page=100{cursor}").json:
            events += page["data"]
            cursor = "&after=" + page["next"]
            if not page["data"]:
                break
        assert client.get("/readyz").status == 200
        assert client.get("/v1/orders?per_page=1").json["pagination"]["total"] == len(placed)
    created = [e["subject"]["id"] for e in events if e["event_type"] == "ORDER_CREATED"]
    assert created == [order["id"] for order in placed], "the log is in the order of what happened"
    assert len(set(created)) == len(placed)
    # The first and the last two are of one day: its numbers go on, whatever was in between.
    numbers = [placed[n]["order_number"] for n in (0, 1, -2, -1)]
    assert numbers == sorted(set(numbers))
    # The demo's business day begins at 5:00 in Lima, 10:00 UTC.
    days = [((seconds(order["created_at"]) - 10 * 3600) // DAY, order["order_number"]) for order in placed]
    assert len(set(days)) == len(days)


def test_tills_do_not_notice_a_clock_that_steps_ten_times_a_second(seed):
    steps = random.Random(seed)
    house = Restaurant("clock", tills=3, seed=seed, kind=Clocked)
    try:
        house.open()
        for _ in range(50):
            house.box.set_ahead(steps.choice([*JUMPS.values(), 0, 30, -30]))
            time.sleep(0.1)
        house.box.set_ahead(0)
        house.wait_for_an_answer()
        house.close()
        assert sum(till.retries for till in house.tills) == 0, "a till was refused or lost its line"
        # A certificate made while the clock was wrong is replaced within a minute, or by a reload.
        house.box.signal(signal.SIGHUP)
        until(lambda: is_accepted_by_dates(house.box))
        house.check_everything()
    finally:
        house.box.discard()


def test_a_small_step_back_goes_on_from_the_last_stamp_and_a_larger_one_is_followed(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        first = seconds(client.place()["created_at"])
        box.set_ahead(-200)
        assert first <= seconds(client.place()["created_at"]) < first + SOON_S
        box.set_ahead(-3600)
        assert abs(seconds(client.place()["created_at"]) - first + 3600) < SOON_S
    box.wait_for_log("the clock was put back")


def test_a_long_poll_and_an_idle_connection_outlive_a_jump(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client, contextlib.closing(box.client(key)) as idle:
        idle.get("/healthz")
        line = idle.connection
        tag = client.get("/v1/orders").etag
        threading.Timer(1, box.set_ahead, [YEAR]).start()
        threading.Timer(2, box.set_ahead, [-YEAR]).start()
        begin = time.monotonic()
        answer = client.get("/v1/orders", **{"If-None-Match": tag, "Prefer": "wait=4"})
        assert answer.status == 304
        assert time.monotonic() - begin > 3.9, "the jump ended the wait"
        assert idle.get("/healthz").status == 200
        assert idle.connection is line, "the jump ended the connection"


def test_no_key_expires_and_no_answer_is_forgotten_because_of_a_jump(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        short = client.post("/auth/api-keys", {"name": "short", "scopes": ["orders:read"],
                                               "expires_at": in_seconds(30 * DAY)}).data
        order = client.place("first")
        assert client.post(f"/v1/orders/{order['id']}/combos", {"combos": [
            {"product_name": "Jalea", "quantity": 1, "variant_price": 20}]}, {"Idempotency-Key": "combo"}).status == 200
        for ahead in (YEAR, ahead_of(2038)):
            box.set_ahead(ahead)
            for _ in range(5):
                client.place()
            again = client.post(f"/v1/orders/{order['id']}/combos", {"combos": [
                {"product_name": "Jalea", "quantity": 1, "variant_price": 20}]}, {"Idempotency-Key": "combo"})
            assert again.headers.get("idempotency-replayed") == "true"
            with contextlib.closing(box.client(short["key"])) as till:
                assert till.get("/v1/orders").status == 200, "a jump must not lock the tills out"
            active = client.get("/auth/api-keys?filter[active]=true").data
            assert short["id"] in [one["id"] for one in active]
        # It is the wall clock that ends it, when it comes to that the usual way.
        box.set_ahead(0)
        ending = client.post("/auth/api-keys", {"name": "ending", "scopes": ["orders:read"],
                                                "expires_at": in_seconds(60)}).data
        box.set_ahead(61)
        with contextlib.closing(box.client(ending["key"])) as till:
            assert till.get("/v1/orders").code == "key_expired"


def test_a_jump_is_in_the_audit_log_and_holds_over_a_restart(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        short = client.post("/auth/api-keys", {"name": "short", "scopes": ["orders:read"],
                                               "expires_at": in_seconds(30 * DAY)}).data["key"]
        client.place()
    box.set_ahead(2 * YEAR)
    until(lambda: audit(box))
    with contextlib.closing(box.client(key)) as client:
        client.place()  # the last event is of the wrong time too

    box.kill()
    box.start_at(2 * YEAR)
    with contextlib.closing(box.client(short)) as till:
        assert till.get("/v1/orders").status == 200
    box.set_ahead(0)
    until(lambda: len(audit(box)) == 2)
    right, ahead = audit(box)
    assert (ahead["action"], right["action"]) == ("clock.ahead", "clock.right")
    for entry, (before, after) in [(ahead, (0, 2 * YEAR)), (right, (2 * YEAR, 0))]:
        for name, shift in (("from", before), ("to", after)):
            assert abs(seconds(entry["detail"][name]) - time.time() - shift) < SOON_S, entry


def test_a_box_that_was_switched_off_does_not_trust_a_clock_that_nobody_vouches_for(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        short = client.post("/auth/api-keys", {"name": "short", "scopes": ["orders:read"],
                                               "expires_at": in_seconds(30 * DAY)}).data["key"]
        client.place()
    certificate = (box.data / "tls/server.crt").read_bytes()
    assert box.stop() == 0
    # Past the end of the key, before that of the certificate.
    box.ahead_s = 45 * DAY
    box.start()
    with contextlib.closing(box.client(short)) as till:
        assert till.get("/v1/orders").status == 200
    assert (box.data / "tls/server.crt").read_bytes() == certificate


def test_no_thread_waits_by_the_wall_clock(tmp_path):
    """What waits in the kernel is not seen by the clock above: it must be told to wait by the time that never jumps."""
    trace = tmp_path / "trace"
    box = Box(options=["--sandbox-listen", "", "--workers", "16"])
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.wrapper = ["strace", "-D", "-f", "-q", "--seccomp-bpf", "-o", trace, "-e",
                   "trace=futex,clock_nanosleep,timer_create,timerfd_create,io_uring_setup"]
    try:
        box.start()
        with contextlib.closing(box.client(key)) as client:
            tag = client.get("/v1/orders").etag
            assert client.get("/v1/orders", **{"If-None-Match": tag, "Prefer": "wait=1"}).status == 304
            client.place()
        assert box.stop() == 0
    finally:
        box.discard()
    lines = trace.read_text().splitlines()
    assert any("FUTEX_WAIT" in line for line in lines)
    # A wait without an end names the wall clock too and ends by no clock; a sleep for a while is measured by none.
    harmless = re.compile(r"FUTEX_CLOCK_REALTIME, \w+, NULL|clock_nanosleep\(CLOCK_REALTIME, 0,")
    wrong = [line for line in lines if "REALTIME" in line and not harmless.search(line)]
    assert wrong == []


def combo(client, order, key):
    return client.post(f"/v1/orders/{order['id']}/combos", {"combos": [
        {"product_name": "Jalea", "quantity": 1, "variant_price": 20}]}, {"Idempotency-Key": key})


def pay(client, order, key):
    return client.post(f"/v1/orders/{order['id']}/payments", {"payment_method_code": "cash", "amount": 20},
                       {"Idempotency-Key": key})


def made_of_counted_time(box, mark):
    return box.value("SELECT max(mark) FROM mark") >= mark


@pytest.mark.parametrize("synchronised", [False, True])
def test_a_payment_is_made_once_although_the_clock_was_nine_days_behind(synchronised):
    """The clock was behind while the payment was made, and is put right: the answer is not nine days old by that."""
    box = Clocked(options=["--sandbox-listen", "", "--workers", "16"], synchronised=synchronised)
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.ahead_s = -9 * DAY
        box.start()
        with contextlib.closing(box.client(key)) as client:
            order = client.place()
            assert combo(client, order, "combo").status == pay(client, order, "pay").status == 200
            for ahead in (0, DAY, 50 * 3600):  # put right, and 50 hours later
                box.set_ahead(ahead)
                client.place()
                time.sleep(1.5)
        assert box.stop() == 0
        # The chores run at each start.
        for ahead in (50 * 3600, 51 * 3600, 52 * 3600):
            box.ahead_s = ahead
            box.start()
            until(lambda: made_of_counted_time(box, 1))
            with contextlib.closing(box.client(key)) as client:
                client.place()
                again = pay(client, order, "pay")
                assert (again.status, again.headers.get("idempotency-replayed")) == (200, "true")
                assert len(client.get(f"/v1/orders/{order['id']}").data["payments"]) == 1
            assert box.stop() == 0
    finally:
        box.discard()


def test_a_box_that_was_off_for_nine_days_keeps_what_it_answers_then(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        client.place()
    assert box.stop() == 0
    box.ahead_s = 9 * DAY
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
        assert combo(client, order, "combo").status == pay(client, order, "pay").status == 200
    for hours in (25, 50):
        assert box.stop() == 0
        box.ahead_s = 9 * DAY + hours * 3600
        box.start()
        with contextlib.closing(box.client(key)) as client:
            client.place()
            assert pay(client, order, "pay").headers.get("idempotency-replayed") == "true"


def a_key(client, **fields):
    return client.post("/auth/api-keys", {"name": "till", "scopes": ["orders:read"], **fields}).data


def rotate(client, old, grace_s):
    """The key in its place."""
    return client.post(f"/auth/api-keys/{old['id']}/rotate", {"grace_seconds": grace_s}).data


def ended_keys(box):
    """How many are stored as ended."""
    return box.value("SELECT count(*) FROM api_key WHERE ended IS NOT NULL")


def use(box, key):
    with contextlib.closing(box.client(key)) as till:
        answer = till.get("/v1/orders?per_page=1")
        return "200" if answer.status == 200 else answer.code


def test_what_has_ended_does_not_come_back_with_the_clock(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        unused, old = a_key(client), a_key(client)
        assert use(box, old["key"]) == "200"
        rotate(client, unused, 2)
        new = rotate(client, old, 2)
        ending = a_key(client, expires_at=in_seconds(5))["key"]
    until(lambda: use(box, old["key"]) == "key_revoked")
    until(lambda: use(box, ending) == "key_expired")
    until(lambda: ended_keys(box) == 3)
    for ahead in (-3600, -YEAR):
        box.set_ahead(ahead)
        assert [use(box, one) for one in (old["key"], unused["key"], ending, new["key"])] == [
            "key_revoked", "key_revoked", "key_expired", "200"], "also a key that nobody used since"
    box.kill()
    box.start()
    assert [use(box, one) for one in (old["key"], unused["key"], ending, new["key"])] == [
        "key_revoked", "key_revoked", "key_expired", "200"]
    with contextlib.closing(box.client(key)) as client:
        active = {one["id"] for one in client.get("/auth/api-keys?filter[active]=true").data}
        assert new["id"] in active and old["id"] not in active and unused["id"] not in active


@pytest.fixture
def receiver():
    with Receiver() as receiver:
        yield receiver


def subscribe(client, receiver):
    return client.post("/v1/webhooks", {"webhook_url": receiver.url}).data


def rotate_secret(client, hook, grace_s):
    return client.patch(f"/v1/webhooks/{hook['id']}", {"rotate_secret": True, "grace_seconds": grace_s}).data


def rotates_until(client, hook):
    return client.get(f"/v1/webhooks/{hook['id']}").data["secret_rotates_until"]


def signatures(client, hook, receiver):
    """How many secrets have signed a test."""
    assert client.post(f"/v1/webhooks/{hook['id']}/test", {}).data["state"] == "delivered"
    return len(receiver.requests[-1].headers["webhook-signature"].split(" "))


def old_secrets(box):
    return box.value("SELECT count(*) FROM webhook WHERE old_secret IS NOT NULL OR secret_rotates_until IS NOT NULL")


def test_an_old_secret_of_a_webhook_ends_once_and_leaves_the_database(box, key, receiver):
    box.options += LOOPBACK
    box.start()
    with contextlib.closing(box.client(key)) as client:
        ending, lasting = subscribe(client, receiver), subscribe(client, receiver)
        rotate_secret(client, lasting, 3600)
        for ahead in (YEAR, -YEAR, 0):
            box.set_ahead(ahead)
            assert signatures(client, lasting, receiver) == 2, "as long as was said, whatever the clock does"
        rotate_secret(client, ending, 2)
        assert signatures(client, ending, receiver) == 2
        until(lambda: rotates_until(client, ending) is None)
        for ahead in (-3600, -YEAR):
            box.set_ahead(ahead)
            assert rotates_until(client, ending) is None and signatures(client, ending, receiver) == 1
    assert old_secrets(box) == 1
    box.kill()
    box.start()
    with contextlib.closing(box.client(key)) as client:
        assert rotates_until(client, ending) is None and signatures(client, ending, receiver) == 1
        # The clock is a year behind now: the grace goes on, for a day at most.
        assert signatures(client, lasting, receiver) == 2
    assert box.stop() == 0
    box.ahead_s = 3601
    box.start()
    with contextlib.closing(box.client(key)) as client:
        until(lambda: rotates_until(client, lasting) is None)
        assert signatures(client, lasting, receiver) == 1
        box.set_ahead(0)
        assert rotates_until(client, lasting) is None and signatures(client, lasting, receiver) == 1
    assert old_secrets(box) == 0


def test_a_pairing_code_outlives_jumps_and_is_accepted_once(box, key):
    box.start()
    text = pairing.read(pairing.make_uri(box))["c"]
    box.set_ahead(YEAR)
    with contextlib.closing(box.client_without_dates()) as device:
        assert device.post("/auth/pair", {"code": text}).status == 201
        for ahead in (-YEAR, 0):
            box.set_ahead(ahead)
            assert device.post("/auth/pair", {"code": text}).status == 404
    box.kill()
    box.start_at(-3600)
    with contextlib.closing(box.client_without_dates()) as device:
        assert device.post("/auth/pair", {"code": text}).status == 404


def test_a_grace_is_as_long_as_was_said_whatever_the_clock_does(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        client.place()
        assert box.stop() == 0
        box.ahead_s = 3 * DAY  # off over the week-end, and nobody vouches for the clock
        box.start()
    with contextlib.closing(box.client(key)) as client:
        hour, short = a_key(client), a_key(client)
        new = rotate(client, hour, 3600)
        rotate(client, short, 10)
    assert use(box, hour["key"]) == use(box, short["key"]) == use(box, new["key"]) == "200"
    box.set_ahead(20 * DAY)
    assert use(box, hour["key"]) == "200"
    until(lambda: use(box, short["key"]) == "key_revoked")
    assert use(box, hour["key"]) == "200"


def test_dates_that_people_name_are_judged_by_the_wall_clock(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        client.place()
    assert box.stop() == 0
    box.ahead_s = 3 * DAY
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place(scheduled_delivery_date=in_seconds(3 * DAY + 3600))
        for past in (in_seconds(2 * DAY), in_seconds(3 * DAY - 60)):
            refused = client.post("/v1/orders", {"service_type": "ONSITE", "scheduled_delivery_date": past},
                                  {"Idempotency-Key": f"past-{past}"})
            assert refused.status == 422 and refused.fields == {"scheduled_delivery_date": "out_of_range"}, refused.body
            assert client.patch(f"/v1/orders/{order['id']}", {"scheduled_delivery_date": past}).status == 422
            made = client.post("/auth/api-keys", {"name": "past", "scopes": ["orders:read"], "expires_at": past})
            assert made.status == 422, "an expired key"
        assert client.post("/auth/api-keys", {"name": "x", "scopes": ["orders:read"],
                                              "expires_at": in_seconds(3 * DAY + 3600)}).status == 201


def test_readyz_says_what_is_wrong_with_the_clock(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        state = lambda: client.get("/readyz").json["checks"]["clock"]
        client.place()
        assert state() == {"ok": True, "state": "unknown"}
        for ahead in (9 * DAY, -5 * 3600):
            box.set_ahead(ahead)
            wrong = state()
            assert wrong["ok"] and in_seconds(ahead)[:13] in wrong["state"], wrong
            assert "`comanda doctor` says how" in wrong["state"]
            box.wait_for_log("keys expire by the time known before")
        box.set_ahead(0)
        assert state()["state"] == "unknown"


# The kitchen: what decides which lines wait is not the clock alone.

def kitchen_agrees(api, begin):
    """The list, what has changed since the first moment, and what waits at each station."""
    listed = {row["order_id"]: row for row in api.all("/v1/kitchen/tickets")}
    changed, after = {}, begin
    while page := (answer := api.get(f"/v1/kitchen/changes?after={after}").json)["data"]:
        changed |= {row["order_id"]: row for row in page}
        after = answer["next"]
    assert {id: row for id, row in changed.items() if row["state"] != "closed"} == {id: listed[id] for id in listed if id in changed}
    waiting = [line["station_id"] for row in listed.values() if row["state"] == "open" for line in row["lines"] if line["waits"]]
    for station in api.all("/v1/kitchen/stations"):
        assert station["open_lines"] == waiting.count(station["id"]), (station, waiting)
    return listed


@pytest.mark.parametrize("ahead_s", [-600, 600, -7200])
@pytest.mark.parametrize("synchronised", [False, True])
def test_stations_are_written_beside_a_clock_that_steps(ahead_s, synchronised):
    """A station is made, a dish moved to it, and it is switched off and on, while the clock is wrong: what the list of tickets,
    the changes and the stations say is the same throughout, and a dish that waited waits."""
    box = Clocked(options=["--sandbox-listen", ""], synchronised=synchronised)
    box.bring_in("demo")
    try:
        box.start_at(0)
        key = box.make_key(scopes="all,admin:read,admin:write")["key"]
        with contextlib.closing(box.client(key)) as api:
            dish = next(p for c in api.get("/v1/menu").data["categories"] for p in c["products"]
                        if p["kitchen_id"] and not p["stock_enabled"])
            line = {"product_id": dish["id"], "variant_id": dish["variants"][0]["id"], "quantity": 1, "variant_price": 5}

            def order():
                return api.add(api.place(), line)

            def states(*orders):
                listed = kitchen_agrees(api, begin)
                return ["".join("w" if one["waits"] else "-" for one in listed[o["id"]]["lines"]) if o["id"] in listed else ""
                        for o in orders]

            def done(response):
                assert response.status in (200, 201), response.body
                return response.data

            begin = api.get("/v1/kitchen/tickets").headers["x-event-cursor"]
            before = order()
            assert states(before) == ["w"]
            box.set_ahead(ahead_s)
            station = done(api.post("/v1/kitchen/stations", {"name": "Horno"}))
            done(api.patch(f"/v1/menu/products/{dish['id']}", {"kitchen_id": station["id"]}))
            moved = order()
            assert states(before, moved) == ["w", "w"]
            done(api.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": False}))
            assert states(before, moved) == ["w", ""]
            later = api.add(before, line)  # of the station that prepares nothing
            assert states(before, moved) == ["w-", ""]
            done(api.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": True}))
            assert states(before, moved) == ["ww", "w"]
            done(api.post(f"/v1/kitchen/tickets/{before['id']}/done", {"line_ids": [later["combos"][0]["id"]]}))
            assert states(before, moved) == ["-w", "w"]
            box.set_ahead(0)
            assert states(before, moved) == ["-w", "w"]
            done(api.patch(f"/v1/kitchen/stations/{station['id']}", {"name": "Horno de leña", "prepares": False}))
            assert states(before, moved) == ["--", ""]
            done(api.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": True}))
            done(api.post(f"/v1/kitchen/tickets/{before['id']}/undo", {"line_ids": [later["combos"][0]["id"]]}))
            assert states(before, moved) == ["ww", "w"]
    finally:
        box.discard()
