"""SIGTERM under load: every accepted request is answered, everything acknowledged is there."""

import contextlib
import http.client
import signal
import threading
import uuid

from support.box import PATIENCE_S
from support.waiting import wait_until


def test_sigterm_under_load_answers_every_accepted_request(box):
    key = box.make_key()["key"]
    box.start()
    acknowledged, unanswered, stop = [], [], threading.Event()

    def till():
        with contextlib.closing(box.client(key)) as client:
            while not stop.is_set():
                reference = str(uuid.uuid4())
                try:
                    client.connection or client.connect()
                except OSError:
                    return  # no longer accepted
                try:
                    client.connection.request("POST", "/v1/orders", '{"service_type":"ONSITE"}', {
                        "Authorization": "Bearer " + key, "Idempotency-Key": reference,
                        "Content-Type": "application/json"})
                    response = client.connection.getresponse()
                    body = response.read()
                except (OSError, http.client.HTTPException):
                    unanswered.append(reference)
                    return
                if response.status == 503:
                    return
                assert response.status == 201, body
                acknowledged.append(reference)

    threads = [threading.Thread(target=till) for _ in range(8)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(acknowledged) >= 100 or not any(thread.is_alive() for thread in threads), "100 orders")
    assert len(acknowledged) >= 100
    box.signal(signal.SIGTERM)
    assert box.process.wait(PATIENCE_S) == 0
    stop.set()
    for thread in threads:
        thread.join(PATIENCE_S)

    stored = {reference for (reference,) in box.rows("SELECT reference FROM orders")}
    assert stored >= set(acknowledged), "acknowledged but not stored"
    assert not stored & set(unanswered), "stored, but its till was told nothing"


def test_a_stopped_server_leaves_no_wal_and_starts_again(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    assert box.stop() == 0
    wal = box.data / "live.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0
    box.start()
    with contextlib.closing(box.client(key)) as client:
        assert client.get(f"/v1/orders/{order['id']}").data == order


def test_sighup_reads_the_certificate_again_without_cutting_a_connection(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        client.get("/healthz")
        open_before = client.connection
        (box.data / "comanda.conf").write_text("hosts = box.restaurant.example\n")
        box.signal(signal.SIGHUP)
        box.wait_for_log("read again")
        assert client.get("/healthz", Host="box.restaurant.example").status == 200
        assert client.connection is open_before
