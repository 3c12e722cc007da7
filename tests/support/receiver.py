"""A receiver of webhooks on 127.0.0.1: records what arrives, and answers well or badly, as the test says.

    with Receiver() as good, Receiver(hangs) as bad:
        …
        good.wait_for(3)
        good.answer = answers(500)

An answer is a function of the Request. It returns (status, headers, body), or a function of the Connection that writes
whatever it likes; the connection is closed behind that one."""

import base64
import contextlib
import dataclasses
import email.utils
import hashlib
import http.server
import json
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time

from support.box import PATIENCE_S

# The options of a box that may deliver to these receivers.
LOOPBACK = ["--webhook-networks", "127.0.0.1/32"]


@dataclasses.dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict  # names in lower case
    body: bytes
    at: float  # time.time() of its arrival

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def subject(self):
        """The id of the order or product that the message is about."""
        return (self.json.get("data") or {}).get("id")


class Connection:
    """What an answer that is no answer writes to."""

    def __init__(self, write, stopping, line):
        self.write, self.stopping, self.line = write, stopping, line

    def pause(self, seconds=None):
        """Waits, until the receiver is closed if no time is given. False once it is closed."""
        return not self.stopping.wait(seconds)


# Answers


def answers(status=204, body=b"", **headers):
    """The same answer to everything; `retry_after=5` is the header Retry-After."""
    return lambda request: (status, {n.replace("_", "-"): str(v) for n, v in headers.items()}, body)


def retry_after(value, status=503):
    return answers(status, retry_after=value)


def redirects_to(url, status=307):
    return answers(status, location=url)


def refuses_orders(ids, status=500, **headers):
    """Refuses everything about these orders, however often it comes. `ids` may grow meanwhile."""
    return _refuses(lambda request: request.subject in ids, status, headers)


def refuses_first(count, status=500, **headers):
    """Refuses the first requests, accepts those behind them."""
    left = iter(range(count))
    return _refuses(lambda request: next(left, None) is not None, status, headers)


def _refuses(is_refused, status, headers):
    refuse, accept = answers(status, **headers), answers()
    return lambda request: (refuse if is_refused(request) else accept)(request)


def waits_for(event):
    """Answers when the threading.Event is set, or closes with the receiver."""
    def answer(request):
        event.wait(PATIENCE_S * 2)
        return 204, {}, b""
    return answer


def hangs(request):
    return lambda connection: connection.pause()


def drips_head(request):
    """A head that arrives one byte a second."""
    return lambda connection: _drip(connection, b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000)


def drips_body(request):
    """A complete head, then one byte of the body a second."""
    def drip(connection):
        connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        _drip(connection, b"x" * 1000)
    return drip


def endless_body(request):
    def pour(connection):
        connection.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not connection.stopping.is_set():
            connection.write(b"x" * 4096)
    return pour


def breaks_off_head(request):
    return lambda connection: connection.write(b"HTTP/1.1 200 OK\r\nContent-Le")


def breaks_off_body(request):
    return lambda connection: connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")


def resets(request):
    """Refuses the connection, as far as that is possible for one request of many."""
    return lambda connection: connection.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def no_http(request):
    return lambda connection: connection.write(b"220 mail.example ESMTP\r\n")


def _drip(connection, data):
    for byte in data:
        connection.write(bytes([byte]))
        if not connection.pause(1):
            return


# The server


class Receiver:
    """Runs from its construction until close(). `tls`: a support.openssl.Pair, for https."""

    def __init__(self, answer=answers(), tls=None, port=0):
        self.answer = answer  # may be replaced at any time
        self.accepted = 0  # connections
        self.stopping = threading.Event()
        self._requests, self._failure, self._open = [], None, set()
        self._changed = threading.Condition()
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(tls.certificate, tls.key)
        self._server = _Server(("127.0.0.1", port), self)
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the server and every connection, those that hang too."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE_S)
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    @property
    def requests(self):
        """All that arrived, in order of arrival."""
        with self._changed:
            return list(self._requests)

    @property
    def connections(self):
        """How many are open."""
        with self._changed:
            return len(self._open)

    def messages(self, order=None):
        """The bodies, of one order if given."""
        return [r.json for r in self.requests if order is None or r.subject == order["id"]]

    def wait_for(self, count, timeout=PATIENCE_S):
        """The requests, as soon as there are that many."""
        return self.wait_until(lambda requests: len(requests) >= count, timeout, f"{count} requests")

    def wait_until(self, fits, timeout=PATIENCE_S, what="what the test waits for"):
        """The requests, as soon as the function is true of them."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._failure or fits(list(self._requests)), timeout)
            if self._failure:
                raise self._failure
            assert found, f"{what} did not arrive, but these: {[(r.path, r.headers, r.body[:300]) for r in self._requests]}"
            return list(self._requests)

    def wait_for_event(self, event_type, order, count=1, timeout=PATIENCE_S):
        """The first message of that type about the order; with `count`, after so many."""
        def found(requests):
            return [r for r in requests if r.subject == order["id"] and r.json["event_type"] == event_type]
        return found(self.wait_until(lambda requests: len(found(requests)) >= count, timeout, event_type))[0].json

    # Called by the server's threads.
    def record(self, request):
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def fail(self, failure):
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    @contextlib.contextmanager
    def opened(self, connection):
        with self._changed:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._changed:
                self._open.discard(connection)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address, receiver):
        self.receiver = receiver
        super().__init__(address, _Handler)

    def finish_request(self, request, client_address):
        # The handshake runs in the connection's own thread.
        context = self.receiver.context
        self.receiver.accepted += 1
        with context.wrap_socket(request, server_side=True) if context else request as connection:
            with self.receiver.opened(connection):
                super().finish_request(connection, client_address)

    def handle_error(self, request, client_address):
        # A client may go at any time, or refuse the certificate. Anything else is a mistake of the test's answer.
        failure = sys.exc_info()[1]
        if not isinstance(failure, OSError):
            self.receiver.fail(failure)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_request(self):
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, {n.lower(): v for n, v in self.headers.items()}, body, time.time())
        receiver.record(request)
        answer = receiver.answer(request)
        if callable(answer):
            self.close_connection = True
            answer(Connection(self.wfile.write, receiver.stopping, self.connection))
            return
        status, headers, body = answer
        self.send_response_only(status)
        for name, value in {"date": email.utils.formatdate(usegmt=True), **headers}.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request

    def log_message(self, *_):
        pass


def pin_of(pair):
    """The public key of a certificate as subscriptions pin it."""
    text = subprocess.run(["openssl", "x509", "-in", str(pair.certificate), "-noout", "-pubkey"], check=True,
                          capture_output=True, timeout=PATIENCE_S * 2).stdout.decode()
    der = base64.b64decode("".join(line for line in text.splitlines() if "-----" not in line))
    return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()
