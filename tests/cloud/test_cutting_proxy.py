"""The line that fails does what its seed says, and nothing else."""

import contextlib
import http.client
import json
import ssl
import urllib.parse

import pytest

from support.box import PATIENCE_S
from support.cutting_proxy import FATES, CuttingProxy
from support.strict_cloud import StrictCloud

LOST_LINE = (OSError, http.client.HTTPException)


@pytest.fixture
def cloud(tmp_path):
    (tmp_path / "cloud").mkdir()
    with StrictCloud(directory=tmp_path / "cloud") as cloud:
        yield cloud


def line(cloud, directory, fate=None, **more):
    directory.mkdir(exist_ok=True)
    if fate:
        more = {"rate": 1, "fates": {fate: 1}}
    return CuttingProxy(cloud, directory, **more)


def send(proxy, key, reference=None, path="/v1/orders"):
    """(status, body) of a creation, or of a read where there is no reference; nothing if the line was lost."""
    connection = http.client.HTTPSConnection("127.0.0.1", urllib.parse.urlsplit(proxy.url).port, timeout=PATIENCE_S,
                                             context=ssl.create_default_context(cafile=proxy.cafile))
    headers = {"Authorization": "Bearer " + key}
    with contextlib.closing(connection), contextlib.suppress(*LOST_LINE):
        if reference:
            body = json.dumps({"service_type": "ONSITE"})
            connection.request("POST", path, body, {**headers, "Idempotency-Key": reference})
        else:
            connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.mark.parametrize("fate, comes, is_answered", [("drop_before", 0, False), ("drop_after", 1, False),
                                                     ("cut_body", 1, False), ("twice", 2, True), ("repeat", 1, True),
                                                     ("drip", 1, True), ("stale", 1, True)])
def test_a_write_meets_its_fate(cloud, tmp_path, fate, comes, is_answered):
    with line(cloud, tmp_path / "line", fate) as proxy:
        answer = send(proxy, cloud.make_key(), "till-1")
        assert (answer is not None and answer[0] == 201 and b"till-1" in answer[1]) == is_answered
        assert len(cloud.requests) == comes and len(cloud.orders.by_id) == min(comes, 1)


@pytest.mark.parametrize("status", [500, 429, 401])
def test_a_burst_ends(cloud, tmp_path, status):
    with line(cloud, tmp_path / "line", f"burst_{status}") as proxy:
        assert send(proxy, cloud.make_key(), "till-1")[0] == status
        proxy.rate = 0
        answers = [send(proxy, cloud.make_key(), "till-1")[0] for _ in range(5)]
        assert answers[-1] == 201 and set(answers) <= {status, 201}


def test_a_read_may_get_the_answer_that_it_got_before(cloud, tmp_path):
    with line(cloud, tmp_path / "line", rate=0) as proxy:
        key = cloud.make_key()
        first = send(proxy, key)
        cloud.orders.create({"service_type": "ONSITE"})
        proxy.rate, proxy.fates = 4, {"stale": 1}
        assert send(proxy, key) == first
        proxy.rate = 0
        assert send(proxy, key) != first


def test_the_same_requests_meet_the_same_fates(cloud, tmp_path):
    key = cloud.make_key()

    def fates(seed):
        with line(cloud, tmp_path / str(seed), seed=seed, rate=0.6) as proxy:
            for number in range(60):
                send(proxy, key, f"{seed}-{number % 20}" if number % 3 else None)
            return [e.fate for e in proxy.exchanges]

    first = fates(1)
    assert fates(1) == first != fates(2)
    assert set(first) <= {"pass", *FATES} and len(set(first)) > 5


def test_an_offline_line_answers_nothing(cloud, tmp_path):
    with line(cloud, tmp_path / "line", rate=0) as proxy:
        proxy.go_offline()
        assert send(proxy, cloud.make_key()) is None and cloud.requests == []
        proxy.go_online()
        assert send(proxy, cloud.make_key())[0] == 200


def test_a_key_that_comes_with_another_request_is_found(cloud, tmp_path):
    with line(cloud, tmp_path / "line", rate=0) as proxy:
        key = cloud.make_key()
        send(proxy, key, "till-1")
        proxy.require_steady_keys()
        send(proxy, key, "till-1", "/v1/orders/0/combos")
        with pytest.raises(AssertionError, match="till-1"):
            proxy.require_steady_keys()
