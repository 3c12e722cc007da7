"""What the tests of a comanda-head with one database server ask of it."""

import contextlib
import http.client


def states(box):
    """Of /readyz, by check."""
    client = box.client()
    try:
        answer = client.get("/readyz")
        return answer.status, {name: check["state"] for name, check in answer.json["checks"].items()}
    finally:
        client.close()


def is_ready(box):
    """A standby that takes over closes its connections."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return states(box)[0] == 200


def sold(head, references):
    """How many orders there are of each reference."""
    found = dict(head.rows("SELECT reference, count(*) FROM orders WHERE reference IS NOT NULL GROUP BY reference"))
    return [found.get(reference, 0) for reference in references]


def place(client, reference):
    return client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": reference})
