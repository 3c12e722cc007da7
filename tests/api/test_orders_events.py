"""Every committed change writes exactly one event, and nothing else writes one (contract section 13)."""

import datetime
import json

import pytest

from support.orders import accepted, in_days, item, new_id, new_key, news, path, read


@pytest.fixture
def happened(box):
    """What `act` did to an order: the changes of its new events."""
    def happened(order, act):
        before = len(news(box, order))
        answer = act()
        assert not hasattr(answer, "status") or answer.status < 300, answer.body
        return news(box, order)[before:]
    return happened


def dinner(api, *prices, **fields):
    order = api.place(**fields)
    return api.add(order, *[item(p) for p in prices]) if prices else order


def discount(api, order, value, kind="AMOUNT"):
    return api.post(path(order, "discounts"), {"type": kind, "value": value})


def test_placing_an_order_is_one_event(api, box):
    order = api.place(order_title="Rosa", comment="x")
    ((kind, changes),) = box.events(order["id"])
    assert kind == "ORDER_CREATED" and "cancelled" not in changes and "paid" not in changes


@pytest.mark.parametrize("fields", [
    {"comment": "x"}, {"order_title": "x"}, {"packaging_price": 3}, {"delivery_price": 3},
    {"delivery_comment": "x", "order_title": "y"}, {"scheduled_delivery_date": in_days(1)}])
def test_changed_fields(api, happened, fields):
    order = dinner(api, 10, service_type="DELIVERY")
    assert happened(order, lambda: api.patch(path(order), fields)) == [{"fields"}]


def test_fields_that_make_an_order_unpaid_and_paid_again(api, happened):
    order = dinner(api, 10)
    api.pay(order, 10)
    assert happened(order, lambda: api.patch(path(order), {"packaging_price": 3})) == [{"fields", "paid"}]
    assert happened(order, lambda: api.patch(path(order), {"packaging_price": 0})) == [{"fields", "paid"}]


def test_several_lines_at_once_are_one_event(api, happened):
    order = api.place()
    assert happened(order, lambda: api.add(order, item(1), item(2), item(3))) == [{"combos"}]


def test_a_cancelled_line(api, happened):
    order = dinner(api, 10, 5)
    combo = path(order, "combos", order["combos"][0]["id"])
    assert happened(order, lambda: api.delete(combo)) == [{"combos"}]
    assert happened(order, lambda: api.delete(combo)) == []


def test_lines_that_flip_paid_say_so(api, happened):
    order = dinner(api, 10)
    api.pay(order, 10)
    assert happened(order, lambda: api.add(order, item(5))) == [{"combos", "paid"}]
    combo = read(api, order)["combos"][1]["id"]
    assert happened(order, lambda: api.delete(path(order, "combos", combo))) == [{"combos", "paid"}]


def test_a_line_that_costs_nothing_makes_an_order_paid(api, happened):
    order = api.place()
    assert happened(order, lambda: api.add(order, item(0))) == [{"combos", "paid"}]


def test_payments_say_paid_only_when_it_flips(api, happened):
    order = dinner(api, 10)
    assert happened(order, lambda: api.pay(order, 4)) == [{"payments"}]
    assert happened(order, lambda: api.pay(order, 6)) == [{"payments", "paid"}]
    assert happened(order, lambda: api.pay(order, 1)) == [{"payments"}]
    payments = [path(order, "payments", p["id"]) for p in read(api, order)["payments"]]
    assert happened(order, lambda: api.delete(payments[2])) == [{"payments"}]
    assert happened(order, lambda: api.delete(payments[1])) == [{"payments", "paid"}]
    assert happened(order, lambda: api.delete(payments[1])) == []


def test_discounts(api, happened):
    order = dinner(api, 10)
    assert happened(order, lambda: discount(api, order, 4)) == [{"discounts"}]
    assert happened(order, lambda: discount(api, order, 100, "PERCENTAGE")) == [{"discounts", "paid"}]
    last = read(api, order)["discounts"][1]["id"]
    assert happened(order, lambda: api.delete(path(order, "discounts", last))) == [{"discounts", "paid"}]


def test_lines_under_a_percentage_may_name_its_effect(api, happened):
    order = dinner(api, 10)
    discount(api, order, 10, "PERCENTAGE")
    (changes,) = happened(order, lambda: api.add(order, item(5)))
    assert {"combos"} <= changes <= {"combos", "discounts"}


def test_a_jump_over_several_steps_is_one_event(api, happened):
    order = api.place()
    assert happened(order, lambda: api.advance(order, "DELIVERED")) == [{"status"}]
    assert happened(order, lambda: api.advance(order, "DELIVERED")) == []
    assert happened(order, lambda: api.advance(order, "PENDING")) == []
    assert happened(order, lambda: api.advance(order, "FINALIZED")) == [{"status"}]


def test_a_cancel(api, happened):
    order = api.place()
    (changes,) = happened(order, lambda: api.post(path(order, "cancel"), {"reason": "left"}))
    assert {"cancelled"} <= changes <= {"cancelled", "status"}
    assert happened(order, lambda: api.post(path(order, "cancel"), {"reason": "again"})) == []


def test_riders(api, happened):
    order = api.place(service_type="DELIVERY")
    def put(name):
        return api.put(path(order, "rider"), {"name": name})
    assert happened(order, lambda: put("Beto")) == [{"rider", "delivery_status"}]
    assert happened(order, lambda: put("Beto")) == []
    assert happened(order, lambda: put("Ana")) == [{"rider"}]
    assert happened(order, lambda: api.delete(path(order, "rider"))) == [{"rider", "delivery_status"}]
    assert happened(order, lambda: api.delete(path(order, "rider"))) == []


def test_a_rider_of_a_dinner(api, happened):
    order = api.place(service_type="TABLE")
    assert happened(order, lambda: api.put(path(order, "rider"), {"name": "Beto"})) == [{"rider"}]


def test_delivery_reports(api, happened):
    order = api.place(service_type="DELIVERY")
    def report(status):
        return api.patch(path(order, "delivery-status"), {"delivery_status": status})
    assert happened(order, lambda: report("DRIVER_ARRIVED_AT_STORE")) == [{"delivery_status"}]
    assert happened(order, lambda: report("RIDER_ASSIGNED")) == []
    assert happened(order, lambda: report("DRIVER_ON_THE_WAY_TO_DESTINATION")) == [{"delivery_status", "status"}]
    assert happened(order, lambda: report("NOT_DELIVERED")) == [{"delivery_status"}]
    assert happened(order, lambda: report("NOT_DELIVERED")) == []
    assert happened(order, lambda: report("DRIVER_ON_THE_WAY_TO_DESTINATION")) == [{"delivery_status"}]
    assert happened(order, lambda: report("DELIVERED")) == [{"delivery_status", "status"}]


def test_fields_that_say_the_same_write_nothing(api, happened):
    order = api.place(order_title="Rosa")
    assert happened(order, lambda: api.patch(path(order), {"order_title": "Rosa"})) == []


def test_what_is_refused_writes_nothing(api, box):
    order = dinner(api, 10)
    api.pay(order, 1)
    before = box.events(order["id"])
    for answer in [
            api.patch(path(order), {"order_title": 5}), api.patch(path(order, "status"), {"status": "CANCELLED"}),
            api.post(path(order, "cancel"), {"reason": "x"}), api.post(path(order, "combos"), {"combos": [item(), {}]}),
            discount(api, order, 101, "PERCENTAGE"), api.delete(path(order, "combos", new_id())),
            api.post(path(order, "payments"), {"payment_method_code": "gold", "amount": 1}),
            api.patch(path(order, "delivery-status"), {"delivery_status": "DELIVERED"})]:
        assert 400 <= answer.status < 500
    assert box.events(order["id"]) == before


def test_a_replay_writes_nothing(api, box):
    key = new_key()
    first = api.post("/v1/orders", {"service_type": "ONSITE"}, key)
    order = first.data
    again = new_key()
    for _ in range(3):
        api.post("/v1/orders", {"service_type": "ONSITE"}, key)
        api.patch(path(order), {"comment": "x"}, again)
    assert news(box, order) == [{"fields"}]


def test_reading_writes_nothing(api, box):
    order = api.place()
    for place in [path(order), "/v1/orders", "/v1/orders?filter[status]=PENDING"]:
        api.get(place)
    assert news(box, order) == []


def test_every_event_carries_the_record_after_its_change(api, box):
    order = dinner(api, 10)
    api.pay(order, 10)
    last = api.advance(order, "FINALIZED")
    events = box.rows("SELECT subject_type, subject_version, at, body FROM event WHERE subject_id = ?"
                       " ORDER BY seq", order["id"])
    assert [version for _, version, _, _ in events] == [1, 2, 3, 4]
    for kind, version, at, body in events:
        record = json.loads(body)
        assert kind == "order" and record["version"] == version
        assert record["updated_at"] == stamp(at)
    assert json.loads(events[-1][3]) == last


def stamp(at_ms):
    moment = datetime.datetime.fromtimestamp(at_ms // 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03}Z"


def test_event_numbers_have_no_gaps_and_their_ids_never_repeat(api, box, house):
    for _ in range(5):
        dinner(api, 10)
    events = box.rows("SELECT seq, event_id FROM event e JOIN company c USING (company_id) WHERE c.id = ?"
                       " ORDER BY seq", house.id)
    assert [seq for seq, _ in events] == list(range(events[0][0], events[0][0] + len(events)))
    assert len({event_id for _, event_id in events}) == len(events)


def test_the_writer_is_named_in_the_history(api, box, house):
    made = box.make_key(company=house.id)
    with_other_key = box.client(made["key"])
    order = with_other_key.place()
    accepted(api.patch(path(order, "status"), {"status": "READY"}))
    last = accepted(with_other_key.post(path(order, "cancel"), {"reason": "x"}))
    with_other_key.close()
    actors = [h["by"] for h in last["status_history"]]
    assert actors[0] == actors[3] == "key:" + made["id"]
    assert actors[1] == actors[2] != actors[0]
