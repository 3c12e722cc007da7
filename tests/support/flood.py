"""Sends as much as one process can to the loopback address. A separate program, so that it does not disturb measurements.

    python3 tests/support/flood.py --port N --kind connect|handshakes|unknown-keys|documents [--seconds 2] [--at-least 0]

connect: connections that are closed at once. handshakes: the first message of a handshake, always the same, which costs
the server two operations on curves and this side nothing. unknown-keys: requests with keys that nobody has, over eight
connections from as many addresses. documents: as many that ask for the largest answer that needs no key. Writes how
many there were: it ends after that time, on a busy machine later, with so many at least.
"""

import argparse
import asyncio
import contextlib
import http.client
import os
import socket
import ssl
import sys
import threading
import time

TIMEOUT_S = 30
REQUESTS = {  # the path, and the header Authorization
    "unknown-keys": ("/v1/orders", "Bearer cmd_live_%024d"),
    "documents": ("/v1/openapi.json", ""),
}
KINDS = ("connect", "handshakes", *REQUESTS)
CONNECTIONS = 8
HANDSHAKES_AT_ONCE = 100


class Flood:
    """How long it goes on, and how much there was of it."""

    def __init__(self, seconds, at_least):
        self._end, self._at_least = time.monotonic() + seconds, at_least
        self._mutex = threading.Lock()
        self.count = 0  # guarded by _mutex

    def goes_on(self):
        return time.monotonic() < self._end or self.count < self._at_least

    def add(self):
        with self._mutex:
            self.count += 1


def connect(port, flood):
    while flood.goes_on():
        with contextlib.suppress(OSError), socket.socket() as plain:
            plain.bind((f"127.0.1.{1 + flood.count % 200}", 0))
            plain.connect(("127.0.0.1", port))
        flood.add()


def first_message():
    """A ClientHello."""
    outgoing = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


async def handshakes(port, flood):
    message, loop = first_message(), asyncio.get_running_loop()

    async def begin_many(number):
        while flood.goes_on():
            with contextlib.suppress(OSError), socket.socket() as plain:
                plain.setblocking(False)
                plain.bind((f"127.0.1.{1 + number}", 0))
                await loop.sock_connect(plain, ("127.0.0.1", port))
                await loop.sock_sendall(plain, message)
                if await loop.sock_recv(plain, 1):
                    flood.add()

    await asyncio.gather(*(begin_many(number) for number in range(HANDSHAKES_AT_ONCE)))


def ask(path, authorization, port, flood, number):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    count = 0
    while flood.goes_on():
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=TIMEOUT_S, context=context,
                                                 source_address=(f"127.0.1.{1 + number}", 0))
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            while flood.goes_on():
                key = {"Authorization": authorization % count} if authorization else {}
                connection.request("GET", path, headers=key)
                connection.getresponse().read()
                count += 1
                flood.add()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--at-least", type=int, default=0)
    options = parser.parse_args()
    os.nice(5)
    flood = Flood(options.seconds, options.at_least)
    if options.kind == "connect":
        connect(options.port, flood)
    elif options.kind == "handshakes":
        asyncio.run(handshakes(options.port, flood))
    else:
        request = REQUESTS[options.kind]
        threads = [threading.Thread(target=ask, args=(*request, options.port, flood, n)) for n in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(flood.count)


if __name__ == "__main__":
    sys.exit(main())
