"""Sends as much as one process can to the loopback address. A separate program, so that it does not disturb measurements.

    python3 tests/support/flood.py --port N --kind connect|handshakes|unknown-keys|documents [--seconds 2]

connect: connections that are closed at once. handshakes: the first message of a handshake, always the same, which costs
the server two operations on curves and this side nothing. unknown-keys: requests with keys that nobody has, over eight
connections from as many addresses. documents: as many that ask for the largest answer that needs no key. Writes how
many there were.
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

REQUESTS = {  # the path, and the header Authorization
    "unknown-keys": ("/v1/orders", "Bearer cmd_live_%024d"),
    "documents": ("/v1/openapi.json", ""),
}
KINDS = ("connect", "handshakes", *REQUESTS)
CONNECTIONS = 8
HANDSHAKES_AT_ONCE = 100


def connect(port, end):
    count = 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.socket() as plain:
            plain.bind((f"127.0.1.{1 + count % 200}", 0))
            plain.connect(("127.0.0.1", port))
        count += 1
    return count


def first_message():
    """A ClientHello."""
    outgoing = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


async def handshakes(port, end):
    message, loop, count = first_message(), asyncio.get_running_loop(), 0

    async def begin_many(number):
        nonlocal count
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.socket() as plain:
                plain.setblocking(False)
                plain.bind((f"127.0.1.{1 + number}", 0))
                await loop.sock_connect(plain, ("127.0.0.1", port))
                await loop.sock_sendall(plain, message)
                if await loop.sock_recv(plain, 1):
                    count += 1

    await asyncio.gather(*(begin_many(number) for number in range(HANDSHAKES_AT_ONCE)))
    return count


def ask(path, authorization, port, end, number):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    count = 0
    while time.monotonic() < end:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context,
                                                 source_address=(f"127.0.1.{1 + number}", 0))
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            while time.monotonic() < end:
                key = {"Authorization": authorization % count} if authorization else {}
                connection.request("GET", path, headers=key)
                connection.getresponse().read()
                count += 1
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    os.nice(5)
    end = time.monotonic() + options.seconds
    if options.kind == "connect":
        print(connect(options.port, end))
        return
    if options.kind == "handshakes":
        print(asyncio.run(handshakes(options.port, end)))
        return
    counts = []
    request = REQUESTS[options.kind]
    threads = [threading.Thread(target=lambda n=n: counts.append(ask(*request, options.port, end, n)))
               for n in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(counts))


if __name__ == "__main__":
    sys.exit(main())
