"""Compares what arrived at a receiver of webhooks with the events that were asked for."""

from support.orders import exact

SAME = ("event_id", "event_type", "timestamp", "changes", "note", "data")


def key_of(event):
    """What has its messages one behind the other: an order, or the whole catalogue."""
    return event["subject"]["id"] if event["subject"]["type"] == "order" else event["subject"]["type"]


def check(events, requests):
    """Every event arrived, the first copies in the order of the log for each order, all copies with the same bytes, numbered
    without a gap. `events`: as `exact` reads the feed."""
    copies = {}  # in the order in which the first ones arrived
    for request in requests:
        copies.setdefault(request.headers["webhook-id"], []).append(request.body)
    wanted = {e["event_id"]: e for e in events}
    assert not set(wanted) - set(copies), "events did not arrive"
    assert not set(copies) - set(wanted), "events arrived that are not in the log, or were not asked for"
    for number, (event_id, event) in enumerate(wanted.items(), 1):
        assert len(set(copies[event_id])) == 1, f"one message with several bodies: {set(copies[event_id])}"
        message = exact(copies[event_id][0])
        assert message["sequence"] == str(number), (message, event)
        assert {n: message[n] for n in SAME} == {n: event[n] for n in SAME}
    in_log, as_arrived = {}, {}
    for ids, lists in ((wanted, in_log), (copies, as_arrived)):
        for event_id in ids:
            lists.setdefault(key_of(wanted[event_id]), []).append(event_id)
    for key, ids in in_log.items():
        assert as_arrived[key] == ids, f"out of order: {key}"
