"""Unauthenticated connections, each a new one, from one address or from another each time, with a chosen server name or
key. Names are generated from numbers; equal numbers give equal names."""

import contextlib
import socket
import ssl

from support.box import PATIENCE_S

CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE


def source(number):
    """An address of this machine: 127.1.0.0 and above."""
    return f"127.{1 + number // 65536 % 250}.{number // 256 % 256}.{number % 256}"


def connect(box, number):
    plain = socket.socket()
    plain.settimeout(PATIENCE_S)
    plain.bind((source(number), 0))
    plain.connect(("127.0.0.1", box.port))
    return plain


def address(box, number):
    """Connects and closes without sending."""
    connect(box, number).close()


def server_name(box, number):
    """Starts a handshake with that server name (SNI), waits for an answer and closes."""
    outgoing = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        CONTEXT.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=f"name-{number}.example").do_handshake()
    with connect(box, 0) as plain:
        plain.sendall(outgoing.read())
        plain.recv(1)


def ask(box, number, head):
    with CONTEXT.wrap_socket(connect(box, number)) as secure:
        secure.sendall(head.encode())
        while secure.recv(1 << 14):
            pass


def host(box, number):
    ask(box, 0, f"GET /v1/company HTTP/1.1\r\nHost: name-{number}.example\r\nConnection: close\r\n\r\n")


def method(box, number):
    ask(box, 0, f"METHOD-{number} /v1/company HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")


def unknown_key(box, number):
    """From another address each time, because attempts are counted by address."""
    ask(box, number, f"GET /v1/company HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer cmd_live_{number:038}\r\n"
                     "Connection: close\r\n\r\n")


KINDS = {"address": address, "server name": server_name, "Host": host, "method": method,
         "address of an unknown key": unknown_key}
