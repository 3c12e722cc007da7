"""Subscriptions and their deliveries, to a receiver that is not there."""

from golden.walks.common import NOBODY, demo

HOOKS = "/v1/webhooks"
NOWHERE = "http://127.0.0.1:1025/hook"


def options(box):
    return ["--webhook-networks", "127.0.0.1/32"]


def walk(r):
    demo(r)
    r.ask("none", "GET", HOOKS)
    hook = making(r)
    changing(r, f"{HOOKS}/{hook}")
    deliveries(r, f"{HOOKS}/{hook}")
    r.ask("remove", "DELETE", f"{HOOKS}/{hook}")
    r.ask("remove: again", "DELETE", f"{HOOKS}/{hook}")


def making(r):
    made = r.ask("make: the least", "POST", HOOKS, {"webhook_url": NOWHERE})
    r.ask("make: everything", "POST", HOOKS, {
        "webhook_url": NOWHERE, "merchant_id": "m-1", "events": ["ORDER_PAID", "ORDER_CREATED"],
        "webhook_headers": {"Authorization": "Bearer 0123456789", "X-Shop": "7"}, "ack_http_codes": [200, 404],
        "public_key_pin": "sha256//" + "A" * 43 + "=", "is_active": False})
    for title in ("make: once", "make: once, again"):
        r.ask(title, "POST", HOOKS, {"webhook_url": NOWHERE, "events": ["*"]}, "Idempotency-Key: once")
    for title, body in [("no URL", {"webhook_url": None}), ("ftp", {"webhook_url": "ftp://a.example/"}),
                        ("a forbidden address", {"webhook_url": "http://169.254.1.1:8080/"}),
                        ("a kind that is none", {"events": ["ORDER_EATEN"]}), ("no kind", {"events": []}),
                        ("a header of ours", {"webhook_headers": {"Host": "x"}}),
                        ("a status out of range", {"ack_http_codes": [500]}), ("a pin that is none", {"public_key_pin": "x"}),
                        ("all of it", {"webhook_url": 1, "merchant_id": 1, "events": 1, "webhook_headers": 1,
                                       "ack_http_codes": 1, "public_key_pin": 1, "is_active": 1})]:
        r.ask(f"make: {title}", "POST", HOOKS, {"webhook_url": NOWHERE, **body})
    return made.data["id"]


def changing(r, path):
    answer = r.ask("one", "GET", path)
    r.ask("one: unless it has its tag", "GET", path, None, f"If-None-Match: {answer.etag}")
    for query in ["per_page=1", "per_page=1&page=2", "sort=created_at", "sort=url", "page=x"]:
        r.ask(f"list: {query}", "GET", f"{HOOKS}?{query}")
    for title, body in [("nothing", {}), ("a name", {"merchant_id": "m-2"}), ("the secret", {"rotate_secret": True}),
                        ("the secret at once", {"rotate_secret": True, "grace_seconds": 0}),
                        ("a grace without a rotation", {"grace_seconds": 5}), ("paused", {"is_active": False}),
                        ("resumed", {"is_active": True, "skip_backlog": True}), ("no URL", {"webhook_url": None})]:
        r.ask(f"change: {title}", "PATCH", path, body)
    r.ask("change: nobody's", "PATCH", f"{HOOKS}/{NOBODY}", {"is_active": False})


def deliveries(r, path):
    r.ask("deliveries: none", "GET", f"{path}/deliveries")
    test = r.ask("test", "POST", f"{path}/test")
    r.ask("test: nobody's", "POST", f"{HOOKS}/{NOBODY}/test")
    for query in ["", "filter[state]=dead", "filter[state]=eaten", "filter[event_type]=ORDER_PAID",
                  "filter[outcome]=connection_failed,timeout", f"filter[subject_id]={NOBODY}", "sort=state"]:
        r.ask(f"deliveries: {query}", "GET", f"{path}/deliveries?{query}")
    # Paused, so that nothing is sent meanwhile.
    r.ask("paused", "PATCH", path, {"is_active": False})
    r.ask("redeliver", "POST", f"{path}/deliveries/{test.data['id']}/redeliver")
    r.ask("redeliver: nobody's", "POST", f"{path}/deliveries/{NOBODY}/redeliver")
    r.ask("redeliver all", "POST", f"{path}/deliveries/redeliver", {"state": "dead"})
    r.ask("redeliver all: of a state that is none", "POST", f"{path}/deliveries/redeliver", {"state": "late"})
