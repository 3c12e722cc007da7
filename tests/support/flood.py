"""As much as one process can send at the loopback address: a program, so that its work disturbs no measurement.

    python3 tests/support/flood.py --port N --kind connect|handshakes|unknown-keys [--seconds 2]

connect: connections that are closed at once. handshakes: the first message of a handshake, always the same, which costs
the server two operations on curves and this side nothing. unknown-keys: requests with keys that nobody has, over eight
connections from as many addresses. Writes how many there were.
"""

import argparse
import asyncio
import contextlib
import os
import socket
import ssl
import sys
import threading
import time

KINDS = ("connect", "handshakes", "unknown-keys")
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
    """What any client begins a handshake with."""
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


def unknown_keys(port, end, number=0):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = b"GET /v1/orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer cmd_live_%024d\r\n\r\n"
    count = 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            plain = socket.create_connection(("127.0.0.1", port), 5, (f"127.0.1.{1 + number}", 0))
            with context.wrap_socket(plain) as tls:
                while time.monotonic() < end:
                    tls.sendall(request % count)
                    if not tls.recv(65536):
                        break
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
    threads = [threading.Thread(target=lambda n=n: counts.append(unknown_keys(options.port, end, n)))
               for n in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(counts))


if __name__ == "__main__":
    sys.exit(main())
