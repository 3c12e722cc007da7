"""Connections that do nothing cost nothing and do not stop the others."""

import contextlib
import socket
import ssl
import time

from support.box import PATIENCE_S
from support.waiting import wait_until


def open_tcp(box):
    return socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S)


def open_tls(box):
    context = ssl.create_default_context(cafile=box.data / "tls/ca.crt")
    return context.wrap_socket(open_tcp(box), server_hostname="localhost")


def test_silent_tcp_connections_cost_no_processor_time_and_do_not_stop_the_others(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(contextlib.closing(open_tcp(box)))
        before = box.cpu_seconds()
        begin = time.monotonic()
        time.sleep(2)
        # Stock CivetWeb burns a core for each of them.
        assert box.cpu_seconds() - before < 0.5 * (time.monotonic() - begin)
        with contextlib.closing(box.client(key)) as client:
            assert client.get("/v1/orders").status == 200


def test_a_handshake_that_does_not_come_is_given_up(box):
    box.start()
    with contextlib.closing(open_tcp(box)) as silent:
        assert silent.recv(1) == b""


def test_more_idle_connections_than_workers_let_a_new_terminal_in(box):
    key = box.make_key()["key"]
    box.options += ["--workers", "16"]
    box.start()
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            client = stack.enter_context(contextlib.closing(box.client(key)))
            assert client.get("/v1/orders?per_page=1").status == 200
        late = stack.enter_context(contextlib.closing(box.client(key)))
        assert late.get("/v1/orders?per_page=1").status == 200


def test_a_head_that_drips_is_cut_off(box):
    box.start()
    with contextlib.closing(open_tls(box)) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")

        def is_cut_off():
            try:
                slow.sendall(b"X")
            except OSError:
                return True

        wait_until(is_cut_off, box.log_text, 2 * PATIENCE_S)
