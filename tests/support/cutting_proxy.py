"""A line between a box and its cloud that fails, as its seed says: an HTTPS proxy on 127.0.0.1 with a certificate of its own.

    with CuttingProxy(cloud, directory, seed=7) as proxy:
        …proxy.url, proxy.cafile…
        proxy.rate = 0  # everything passes

`cloud` is whatever has a `port` and a `cafile`. What becomes of a write depends on the seed, on how many writes with other
keys came before it, and on how often it has come; what becomes of a read, on how many came before it. Hence a client that
sends the same requests in the same order meets the same failures, however long it waits between them."""

import collections
import contextlib
import dataclasses
import email.utils
import hashlib
import http.client
import json
import random
import socket
import ssl
import struct
import sys
import threading
import time

from support.box import PATIENCE_S
from support.https_server import Handler, HttpsServer
from support.trust import make_older_pair

# What may become of a request, and how often in relation to the others.
FATES = {
    "drop_before": 4,   # the cloud never gets it
    "drop_after": 6,    # the cloud has done it; the answer is lost
    "cut_head": 1,
    "cut_body": 3,      # the connection ends in the middle of the answer's body
    "twice": 2,         # the cloud gets it twice, the client the second answer
    "repeat": 2,        # the client gets the answer, and once more unasked
    "stale": 2,         # a read gets the answer that it got before
    "burst_500": 1,
    "burst_429": 1,
    "burst_401": 1,
    "drip": 2,          # the answer comes in pieces
}
BURST_MAX = 4
READS_SHARE = 0.25  # reads fail this much less often: they are many, and are repeated anyway
IDLE_MAX_S = 5  # less than a server keeps an idle connection
DRIP_PIECES, DRIP_PAUSE_S = 20, 0.01
PROBLEMS = {500: "internal_error", 429: "rate_limit_exceeded", 401: "unauthorized"}


@dataclasses.dataclass
class Exchange:
    method: str
    path: str  # with the query
    key: str | None  # the Idempotency-Key
    body: bytes
    fate: str
    status: int | None = None  # of the cloud's answer
    held_s: float = 0  # how long the client waited for an answer that never came


class CuttingProxy:
    """`rate`: the share of writes that do not simply pass."""

    def __init__(self, cloud, directory, seed=0, rate=0.3, fates=FATES):
        self.cloud, self.rate, self.fates = cloud, rate, fates
        self.is_offline = False  # every connection is closed at once
        self.clouds = 1  # one more: the next requests go to the cloud over new connections, as to another machine behind HAProxy
        # Called as at(point, exchange) where point is "before" or "after" the cloud has had a request. It runs in the
        # connection's thread, so that the request waits for it. Before, it may give the exchange another fate: one of FATES,
        # "hang" (no answer until the client goes) or "reset" (as a port that nobody listens at, for this request alone).
        self.at = lambda point, exchange: None
        self.lock = threading.Lock()
        self.exchanges, self.open = [], set()
        self.reseed(seed)
        self.cafile, pair = make_older_pair(directory)
        self.server = _Server(_Handler, pair)
        self.server.proxy = self
        self.url = self.server.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.server.close()
        self.break_connections()

    def break_connections(self):
        with self.lock:
            for connection in self.open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def reseed(self, seed):
        with self.lock:
            self.seed = seed
            self.serials, self.attempts = {}, collections.Counter()
            self.burst, self.burst_left = None, 0
            self.stored = {}  # target of a read -> the last answer

    def go_offline(self):
        self.is_offline = True
        self.break_connections()

    def go_online(self):
        self.is_offline = False

    # What the tests assert.
    def writes(self):
        with self.lock:
            return [e for e in self.exchanges if e.method != "GET"]

    def require_steady_keys(self):
        """Every repetition of a key is the same request to the byte."""
        sent = {}
        for e in self.writes():
            request = (e.method, e.path, hashlib.sha256(e.body).hexdigest())
            if e.key:
                assert sent.setdefault(e.key, request) == request, f"the key {e.key} came with another request: {e}"

    def fates_met(self):
        with self.lock:
            return collections.Counter(e.fate for e in self.exchanges)

    # Called by the connections' threads.
    def meet(self, method, path, key, body):
        """The exchange, with its fate."""
        with self.lock:
            exchange = Exchange(method, path, key, body, self._fate(method, path, key))
            self.exchanges.append(exchange)
            return exchange

    def _fate(self, method, path, key):
        if self.burst_left:
            self.burst_left -= 1
            return self.burst
        name = ("read",) if method == "GET" else ("write", key or (method, path))
        serial = 0 if method == "GET" else self.serials.setdefault(name, len(self.serials))
        self.attempts[name] += 1
        dice = random.Random(f"{self.seed} {name[0]} {serial} {self.attempts[name]}")
        if dice.random() >= self.rate * (READS_SHARE if method == "GET" else 1):
            return "pass"
        fate = dice.choices(list(self.fates), list(self.fates.values()))[0]
        if fate.startswith("burst"):
            self.burst, self.burst_left = fate, dice.randrange(BURST_MAX)
        return fate


def _head(status, headers, length):
    reason = http.client.responses.get(status, "")
    lines = [f"HTTP/1.1 {status} {reason}"] + [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join([*lines, f"Content-Length: {length}"]) + "\r\n\r\n").encode("latin-1")


class _Server(HttpsServer):
    def finish_request(self, request, client_address):
        if not self.proxy.is_offline:
            super().finish_request(request, client_address)

    def serve(self, connection, client_address):
        with self.proxy.lock:
            self.proxy.open.add(connection)
        try:
            super().serve(connection, client_address)
        finally:
            with self.proxy.lock:
                self.proxy.open.discard(connection)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], http.client.HTTPException):  # the cloud may go at any time
            super().handle_error(request, client_address)


class _Handler(Handler):
    def setup(self):
        super().setup()
        self.upstream, self.used_at, self.clouds = None, 0, 0

    def finish(self):
        self.hang_up()
        super().finish()

    def hang_up(self):
        if self.upstream:
            self.upstream.close()
        self.upstream = None

    def handle_request(self, body):
        proxy = self.server.proxy
        exchange = proxy.meet(self.command, self.path, self.headers.get("Idempotency-Key"), body)
        if exchange.fate.startswith("burst"):
            return self.refuse(int(exchange.fate.removeprefix("burst_")))
        proxy.at("before", exchange)
        fate = exchange.fate
        if fate.startswith("burst"):
            return self.refuse(int(fate.removeprefix("burst_")))
        if fate == "hang":
            begun = time.monotonic()
            with contextlib.suppress(OSError):
                self.rfile.read(1)  # until the client has gone
            exchange.held_s = time.monotonic() - begun
        if fate == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return None
        if fate in ("drop_before", "hang") or proxy.is_offline:
            return self.drop()
        stored = proxy.stored.get(self.path) if self.command == "GET" else None
        if fate == "stale" and stored:
            return self.answer(*stored)
        if fate == "twice":
            self.forward(body)
        answer = self.forward(body)
        exchange.status = answer[0]
        if self.command == "GET" and answer[0] == 200:
            proxy.stored[self.path] = answer
        proxy.at("after", exchange)
        if fate == "drop_after" or proxy.is_offline:
            return self.drop()
        return self.answer(*answer, fate)

    def forward(self, body):
        """(status, headers, body) of the cloud. Ends the connection where the cloud does not answer."""
        cloud = self.server.proxy.cloud
        if time.monotonic() - self.used_at > IDLE_MAX_S or self.clouds != self.server.proxy.clouds:
            self.hang_up()
        self.used_at, self.clouds = time.monotonic(), self.server.proxy.clouds
        if self.upstream is None:
            self.upstream = http.client.HTTPSConnection("127.0.0.1", cloud.port, timeout=PATIENCE_S,
                                                        context=ssl.create_default_context(cafile=cloud.cafile))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("content-length", "host")}
        try:
            self.upstream.request(self.command, self.path, body or None, headers)
            answer = self.upstream.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.hang_up()
            raise
        of_the_connection = ("content-length", "connection", "transfer-encoding")
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in of_the_connection]
        return answer.status, kept, content

    def answer(self, status, headers, body, fate="pass"):
        head = _head(status, headers, len(body))
        if status in (204, 304):
            head = head.replace(b"Content-Length: 0\r\n", b"")
        if fate == "cut_head":
            self.wfile.write(head[:len(head) // 2])
            return self.drop()
        if fate == "cut_body" and len(body) > 1:
            self.wfile.write(head + body[:len(body) // 2])
            return self.drop()
        if fate == "drip":
            return self.drip(head + body)
        self.wfile.write((head + body) * (2 if fate == "repeat" else 1))

    def drip(self, data):
        size = len(data) // DRIP_PIECES + 1
        for begin in range(0, len(data), size):
            self.wfile.write(data[begin:begin + size])
            self.wfile.flush()
            time.sleep(DRIP_PAUSE_S)

    def refuse(self, status):
        problem = {"type": "https://cloud.example/errors/" + PROBLEMS[status], "title": "For a while", "status": status,
                   "detail": "The line is failing.", "instance": self.path.partition("?")[0]}
        headers = [("Content-Type", "application/problem+json"), ("Date", email.utils.formatdate(usegmt=True))]
        if status == 429:
            headers.append(("Retry-After", "1"))
        self.answer(status, headers, json.dumps(problem).encode())

    def drop(self):
        self.close_connection = True
        self.wfile.flush()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
