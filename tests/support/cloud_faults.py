"""How a cloud misbehaves (issue "Answers that do not fit"): functions for `faults` and `distortions` of a StrictCloud
(support/strict_cloud.py). A fault answers in place of the API; a distortion changes the API's answer.

    cloud.faults.append(burst(500, 20))
    cloud.distortions.append(repeats_pages)"""

import decimal
import gzip
import json
import random
import re
import uuid

from support.strict_cloud import Answer, problem, wrong_parameter
from support.strict_orders import Refused, invalid

HUGE_BYTES = 10 * 1024 * 1024


# Faults


def burst(status, count, path=r".*", **headers):
    """The next `count` requests to such a path get this status; `retry_after=2` is the header Retry-After."""
    left = iter(range(count))
    headers = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    codes = {401: "unauthorized", 403: "insufficient_scope", 404: "not_found", 429: "rate_limit_exceeded"}

    def fault(request):
        if re.fullmatch(path, request.path) and next(left, None) is not None:
            return problem(request, Refused(status, codes.get(status, "internal_error"), "For a while."), **headers)
        return None
    return fault


def instead(answer, count=1, path=r".*", method=None):
    """The next `count` such requests get this answer, and have no effect."""
    left = iter(range(count))

    def fault(request):
        fits = method in (None, request.method) and re.fullmatch(path, request.path)
        return answer if fits and next(left, None) is not None else None
    return fault


def html(count=1, status=200, **where):
    page = Answer(status, b"<!doctype html><title>Sign in to this network</title>", {"Content-Type": "text/html"})
    return instead(page, count, **where)


def redirects(url, count=1, **where):
    return instead(Answer(302, b"", {"Location": url}), count, **where)


def no_data(count=1, **where):
    return instead(Answer(200, b'{"result": []}'), count, **where)


def expands(count=1, **where):
    """About 10 kB of gzip that become 10 MB."""
    body = gzip.compress(b'{"data": [], "filler": "' + b" " * HUGE_BYTES + b'"}', 9)
    return instead(Answer(200, body, {"Content-Encoding": "gzip"}), count, **where)


def refused_parameter(request, name):
    """400 for a parameter of the query."""
    return problem(request, wrong_parameter(name))


def refuses_field(name):
    """422 to every body that names the field, with its path."""
    def fault(request):
        body = json.loads(request.body) if request.body else None
        paths = list(_paths_of(body, name))
        return problem(request, invalid(*paths)) if paths else None
    return fault


def _paths_of(value, name, prefix=""):
    if isinstance(value, dict):
        for key, below in value.items():
            at = f"{prefix}.{key}" if prefix else key
            if key == name and below is not None:
                yield at
            yield from _paths_of(below, name, at)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _paths_of(below, name, f"{prefix}[{index}]")


# Distortions


def _distorted(change):
    """A distortion of lists: `change` gets the request and the document."""
    def distort(request, answer):
        if request.method != "GET" or answer.status != 200 or b'"pagination"' not in answer.body:
            return answer
        document = json.loads(answer.body)
        if isinstance(document["data"], list):
            change(request, document)
        return Answer(200, json.dumps(document).encode(), answer.headers)
    return distort


def _says_more(request, document):
    document["pagination"]["has_more"] = True


class RepeatsPages:
    """Every page is the first, and there are more."""

    def __init__(self):
        self.first = {}

    def __call__(self, request, document):
        query = tuple(sorted((n, v) for n, v in request.query.items() if n != "page"))
        document["data"] = self.first.setdefault((request.path, query), document["data"])
        document["pagination"]["has_more"] = True


def _renames_orders(request, document):
    """Every list shows its orders under ids that it has never shown."""
    for order in document["data"] if request.path == "/v1/orders" else []:
        order["id"] = str(uuid.uuid4())
        order["public_id"] = f"{order['country_code']}-{random.randrange(10**9, 10**10)}"
        order["reference"] = None


def _has_huge_record(request, document):
    for order in document["data"][:1] if request.path == "/v1/orders" else []:
        order["comment"] = "x" * HUGE_BYTES


has_more_lies = _distorted(_says_more)
renames_orders = _distorted(_renames_orders)
has_huge_record = _distorted(_has_huge_record)


def repeats_pages():
    return _distorted(RepeatsPages())


def more_in_total(places=2):
    """The total of every order is one minor unit higher than its rows say."""
    def raised(match):
        return match.group(1) + str(decimal.Decimal(match.group(2).decode()) + decimal.Decimal(1).scaleb(-places)).encode()

    def distort(request, answer):
        answer.body = re.sub(rb'("total": ?)([0-9.]+)(?=, ?"total_paid")', raised, answer.body)
        return answer
    return distort
