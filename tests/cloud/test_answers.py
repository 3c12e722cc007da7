"""Answers that do not fit: what the box does where the cloud refuses, lies, or is no cloud at all. The cloud is the strict
imitation, which misbehaves as support/cloud_faults.py says."""

import contextlib
import json
import threading
import uuid

import pytest

from support import cloud_faults
from support.box import PATIENCE_S
from support.cloud_pair import Pair
from support.https_server import server_context
from support.metrics import let_work
from support.openssl import make_chain
from support.orders import item
from support.strict_cloud import SCOPES

ORDER_STEPS = r"/v1/orders(/.*)?"


def sold(pair, **fields):
    """An order of a till with food and money; its record."""
    till = pair.tills[0] if pair.tills else pair.till()
    return till.finish(till.open(service_type="ONSITE", **fields))


class HeldRead:
    """The next read of the cloud's list of orders waits at the door from enter to exit."""

    def __init__(self, pair):
        self.pair, self.is_there, self.goes_on = pair, threading.Event(), threading.Event()

    def look(self, point, exchange):
        if point == "before" and (exchange.method, exchange.path.partition("?")[0]) == ("GET", "/v1/orders"):
            self.is_there.set()
            self.goes_on.wait(PATIENCE_S)

    def __enter__(self):
        self.pair.proxy.at = self.look
        assert self.is_there.wait(PATIENCE_S)
        return self

    def __exit__(self, *_):
        self.goes_on.set()


def require_state(pair, state, *words):
    """Waits for the state; its reason must have the words."""
    def check():
        status = pair.status()
        assert status["state"] == state, status
        for word in words:
            assert word in (status["reason"] or ""), status
        return status
    return pair.eventually(check)


def kinds_of_differences(pair, order):
    return {d["kind"] for d in pair.differences() if d["order_id"] == order["id"]}


def steps_of(pair, method="POST", path=ORDER_STEPS):
    return pair.cloud.seen(method, path)


# The key


def test_a_refused_key_stops_everything_and_is_told(strict_pair):
    pair = strict_pair
    pair.cloud.keys.pop(pair.cloud_key)
    order = sold(pair)
    require_state(pair, "stopped", "key")
    tried = len(pair.cloud.seen())
    let_work(pair.box, "cloud", wake=lambda: sold(pair), passes=3)
    assert len(pair.cloud.seen()) - tried <= 1, "a refused key is tried again and again"
    assert order["id"] in {o["id"] for o in pair.box_records()}
    pair.cloud_key = pair.cloud.make_key()
    pair.link()
    pair.settle()
    pair.eventually(pair.compare)


def test_a_missing_scope_is_named(strict_pair):
    pair = strict_pair
    pair.cloud.keys[pair.cloud_key].scopes.remove("orders:write")
    sold(pair)
    require_state(pair, "stopped", "orders:write")
    pair.cloud.keys[pair.cloud_key].scopes.append("orders:write")
    pair.settle()
    pair.eventually(pair.compare)


def test_link_names_every_scope_that_is_missing(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud_key = pair.cloud.make_key([s for s in SCOPES if s not in ("logistics:write", "users:read", "menu:write")])
        result = pair.link(check=False)
        assert result.returncode != 0
        said = result.stdout + result.stderr
        assert all(scope in said for scope in ("logistics:write", "users:read", "menu:write")), said
        assert "orders:write" not in said and pair.status()["state"] == "not linked"


# For a while


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_step_that_is_put_off_is_sent_again_with_the_same_bytes(strict_pair, status):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.burst(status, 5, ORDER_STEPS, retry_after=1))
    sold(pair)
    pair.settle()
    pair.eventually(pair.compare)
    assert sum(r.status == status for r in pair.cloud.seen()) == 5
    sent = {}
    for request in steps_of(pair):
        assert sent.setdefault(request.key, request.body) == request.body


def test_a_retry_after_is_followed_to_the_second(strict_pair):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.burst(429, 1, "/v1/orders", retry_after=3))
    sold(pair)

    def came_again():
        at = [r.at for r in pair.cloud.seen() if r.status == 429]
        later = [r.at for r in pair.cloud.seen() if at and r.at > at[0]]
        assert later
        return later[0] - at[0]
    waited = pair.eventually(came_again)
    assert waited >= 3
    pair.settle()


@pytest.mark.parametrize("fault", [cloud_faults.html, cloud_faults.no_data, cloud_faults.expands,
                                   lambda **where: cloud_faults.redirects("https://elsewhere.example/v1/orders", **where)],
                         ids=["html", "no data", "10 MB of gzip", "redirect"])
def test_an_answer_that_is_none_is_asked_for_again(strict_pair, fault):
    pair = strict_pair
    pair.cloud.faults += [fault(method="POST", path=ORDER_STEPS), fault(method="GET", path="/v1/orders")]
    sold(pair)
    pair.settle()
    pair.eventually(pair.compare)


# Refusals


def test_a_key_that_placed_the_same_order_before_adopts_it(strict_pair):
    pair = strict_pair
    pair.proxy.go_offline()
    order = sold(pair, client_id=None)
    pair.cloud.orders.create({"service_type": "ONSITE", **{n: order[n] for n in ("comment", "order_title", "packaging_price",
                                                                               "scheduled_delivery_date") if order[n]}},
                             order["reference"])
    pair.proxy.go_online()
    pair.settle()
    pair.eventually(pair.compare)


@pytest.mark.parametrize("is_read_first", [False, True])
def test_a_key_that_placed_another_order_is_replaced_once(strict_pair, is_read_first):
    """`is_read_first`: the other order is read before the cloud has refused this one."""
    pair = strict_pair
    pair.till()
    if not is_read_first:
        pair.proxy.go_offline()
    with HeldRead(pair) if is_read_first else contextlib.nullcontext():
        order = sold(pair)
        other = pair.cloud.orders.create({"service_type": "DELIVERY", "order_title": "of somebody else"}, order["reference"])
    pair.proxy.go_online()
    pair.settle()
    (ours,) = [r for r in pair.cloud_records() if r["id"] != other.id]
    assert (ours["total"], ours["total_paid"], ours["status"]) == (order["total"], order["total_paid"], "FINALIZED")
    assert uuid.UUID(ours["reference"])
    assert "reference" in kinds_of_differences(pair, order)
    assert other.record()["combos"] == [] and other.status == "PENDING"


@pytest.mark.parametrize("field", ["client_id", "table_id", "address_id", "product_id", "variant_id", "modifier_id",
                                   "scheduled_delivery_date"])
def test_a_reference_that_is_refused_is_left_out_and_told(strict_pair, field):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.refuses_field(field))
    till = pair.till()
    guest = till.guests[0]
    product = next(p for p in till.products if p["modifier_categories"])
    modifier = product["modifier_categories"][0]["modifiers"][0]
    service = {"table_id": "TABLE", "address_id": "DELIVERY"}.get(field, "ONSITE")
    body = {"client_id": guest["id"], "scheduled_delivery_date": "2099-01-01T12:00:00.000Z"}
    if service == "TABLE":
        body["table_id"] = till.tables[0]["id"]
    if service == "DELIVERY":
        body["address_id"] = guest["addresses"][0]["id"]
    order = till.open(service_type=service, **body)
    order = till.move(order, "POST", "/combos", {"combos": [item(7), {
        "variant_id": product["variants"][0]["id"], "quantity": 2, "variant_price": 9.5,
        "modifiers": [{"modifier_id": modifier["id"], "quantity": 1, "price": 1}]}]})
    order = till.pay(order, in_full=True)
    pair.settle()
    (there,) = pair.cloud_records()
    assert (there["total"], there["total_paid"], len(there["combos"])) == (order["total"], order["total"], 2)
    assert not [r for r in steps_of(pair) if r.status in (200, 201) and field.encode() in r.body]
    assert [c["product_name"] for c in there["combos"]] == [c["product_name"] for c in order["combos"]]
    assert [c["sku"] for c in there["combos"]] == [c["sku"] for c in order["combos"]]
    assert kinds_of_differences(pair, order) == {"date" if field.endswith("date") else "link"}


def test_retry_sends_what_was_added_since_the_refusal(strict_pair):
    pair = strict_pair

    def wants_a_reason(request):
        body = json.loads(request.body) if request.body and request.path.endswith("/delivery-status") else {}
        is_bare = body.get("delivery_status") == "NOT_DELIVERED" and not body.get("reason")
        return cloud_faults.problem(request, cloud_faults.invalid("reason")) if is_bare else None
    pair.cloud.faults.append(wants_a_reason)
    till = pair.till()
    order = till.add(till.open(service_type="DELIVERY"))
    for status in ("RIDER_ASSIGNED", "DRIVER_ON_THE_WAY_TO_DESTINATION", "NOT_DELIVERED"):
        order = till.move(order, "PATCH", "/delivery-status", {"delivery_status": status})
    pair.settle(parked=1)
    order = till.move(order, "PATCH", "/delivery-status", {"delivery_status": "NOT_DELIVERED", "reason": "nadie abre"})
    pair.command("retry", order["id"])
    pair.settle()
    (there,) = pair.cloud_records()
    assert (there["delivery_status"], there["delivery_status_reason"]) == ("NOT_DELIVERED", "nadie abre")


def test_money_does_not_wait_for_a_rider(strict_pair):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.refuses_field("user_id"))
    till = pair.till()
    order = till.add(till.open(service_type="DELIVERY"))
    order = till.move(order, "PUT", "/rider", {"user_id": "moto-4", "name": "Ana"})
    order = till.pay(order, in_full=True)
    order = till.move(order, "PATCH", "/status", {"status": "FINALIZED"})
    pair.settle()
    (there,) = pair.cloud_records()
    assert there["rider"] is None and there["status"] == "FINALIZED" and there["paid"]
    assert kinds_of_differences(pair, order) == {"link"}


def test_any_other_refusal_parks_that_order_alone_and_a_person_decides(strict_pair):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.refuses_field("tip_amount"))
    till = pair.till()
    bad = till.add(till.open(service_type="ONSITE"))
    bad = till.move(bad, "POST", "/payments", {"payment_method_code": "cash", "amount": 1, "tip_amount": 1})
    good = sold(pair)
    pair.settle(parked=1)
    pair.require_equal([good], pair.cloud_records(), with_dates=False)
    (parked,) = pair.parked()
    assert (parked["order_id"], parked["public_id"], parked["why"]) == (bad["id"], bad["public_id"], "refused")
    assert "tip_amount" in json.dumps(parked["problem"])
    pair.cloud.behave()
    pair.command("retry", bad["id"])
    pair.settle()
    pair.eventually(pair.compare)


def test_a_parked_order_can_be_discarded_with_a_reason(strict_pair):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.refuses_field("reason"))
    till = pair.till()
    bad = till.cancel(till.add(till.open(service_type="ONSITE")))
    pair.settle(parked=1)
    pair.command("discard", bad["id"], "--reason", "entered by hand")
    pair.settle()
    assert pair.parked() == []
    assert any("entered by hand" in json.dumps(d, ensure_ascii=False) for d in pair.differences())


# What the cloud shows


def test_an_order_of_the_box_that_the_cloud_forgets_is_parked(strict_pair):
    pair = strict_pair
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    pair.cloud.orders.forget(pair.cloud.orders.by_reference[order["reference"]])
    till.pay(order, in_full=True)
    pair.settle(parked=1)
    (parked,) = pair.parked()
    assert (parked["order_id"], parked["why"]) == (order["id"], "gone")


def test_an_order_of_the_cloud_that_it_forgets_stays_readable(strict_pair):
    pair = strict_pair
    order = pair.cloud.orders.create({"service_type": "ONSITE"}, source="PANEL")
    with contextlib.closing(pair.client()) as client:
        def shown():
            answer = client.get("/v1/orders/" + order.id)
            assert answer.status == 200
            return answer.data
        box = pair.eventually(shown)
        pair.cloud.orders.forget(order)

        def told():
            kinds = [kind for kind, _ in pair.box.events(box["id"])]
            assert kinds.count("ORDER_DELETED") == 1, kinds
        pair.eventually(told)
        assert shown()["status"] == "PENDING"


def test_other_totals_are_a_difference_with_both_figures_and_nothing_is_changed(strict_pair):
    pair = strict_pair
    pair.cloud.distortions.append(cloud_faults.more_in_total())
    order = sold(pair)
    pair.settle()
    found = [d for d in pair.differences() if d["order_id"] == order["id"]]
    assert {d["kind"] for d in found} == {"totals"}, found
    assert any(str(order["total"]) in str(d["box"]) and str(round(order["total"] + 0.01, 2)) in str(d["cloud"]) for d in found)
    with contextlib.closing(pair.client()) as client:
        assert client.get("/v1/orders/" + order["id"]).data["total"] == order["total"]


@pytest.mark.parametrize("lie", [cloud_faults.has_more_lies, cloud_faults.repeats_pages(), cloud_faults.renames_orders,
                                 cloud_faults.has_huge_record],
                         ids=["has_more", "the same page", "new ids each time", "a 10 MB record"])
def test_a_list_that_lies_is_bounded(strict_pair, lie):
    pair = strict_pair
    pair.cloud.orders.create({"service_type": "ONSITE"}, source="PANEL")
    pair.cloud.distortions.append(lie)
    before = len(pair.cloud.seen("GET", "/v1/orders"))
    pair.eventually(lambda: require_reads(pair, before + 3))
    order = sold(pair)

    def there():
        found = pair.cloud.orders.by_reference.get(order["reference"])
        assert found and found.status == "FINALIZED"
    pair.eventually(there)
    pages = [int(r.query.get("page", "1")) for r in pair.cloud.seen("GET", "/v1/orders")]
    assert max(pages) <= 200
    assert pair.box.process.poll() is None
    pair.cloud.behave()
    pair.settle()


def require_reads(pair, count):
    assert len(pair.cloud.seen("GET", "/v1/orders")) >= count


# The line


def test_a_certificate_of_a_stranger_is_told(strict_pair, tmp_path):
    pair = strict_pair
    (tmp_path / "stranger").mkdir()
    _, other = make_chain(tmp_path / "stranger")
    trusted = pair.proxy.server.context
    pair.proxy.server.context = server_context(other)
    pair.proxy.break_connections()
    sold(pair)
    require_state(pair, "offline", "certificate")
    pair.proxy.server.context = trusted
    pair.settle()
    pair.eventually(pair.compare)


@pytest.mark.parametrize("offset_s", [-400, 400])
def test_a_clock_that_differs_by_more_than_five_minutes_is_told(strict_pair, offset_s):
    pair = strict_pair
    pair.cloud.clock_offset_s = offset_s
    require_state(pair, "offline", "clock")
    pair.cloud.clock_offset_s = offset_s / 2
    require_state(pair, "in step")


def test_the_key_is_in_no_log_database_or_backup(strict_pair, tmp_path):
    pair = strict_pair
    sold(pair)
    pair.settle()
    pair.box.command("backup", str(tmp_path / "backup"), "--data", str(pair.box.data))
    secret = pair.cloud_key.encode()
    assert (pair.box.data / "cloud.key").stat().st_mode & 0o777 == 0o600
    for file in [*pair.box.data.rglob("*"), *(tmp_path / "backup").rglob("*"), tmp_path / "backup"]:
        if file.is_file() and file.name != "cloud.key":
            assert secret not in file.read_bytes(), file
