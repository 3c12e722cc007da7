"""A device that pairs: it reads the text of the QR code of `comanda pair`, checks the pin against the chain that the box
sends, and exchanges the code for its key."""

import base64
import hashlib
import http.client
import json
import socket
import ssl
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from support.box import PATIENCE_S, Answer


def make_uri(box, *words, name="Till 3", scopes="orders:read,orders:write", check=True):
    result = box.command("pair", "--data", str(box.data), "--name", name, "--scopes", scopes, "--address",
                         f"127.0.0.1:{box.port}", "--json", *words, check=check)
    return json.loads(result.stdout)["uri"] if result.returncode == 0 else result


class Asking:
    """A device at this machine that asks to be let in, for the examples of the document."""

    def __init__(self, client):
        self.client = client
        self.asked = client.post("/auth/pair/requests", {"role": "kitchen", "name": "Tablet"}).data

    def key_id(self):
        self.client.post("/box/devices/accept", {"number": self.asked["number"], "role": "kitchen", "name": "Tablet"})
        return self.client.post("/auth/pair", {"request": self.asked["request"]}).data["id"]

    def go(self):
        """Frees its place among the two of one address."""
        if self.client.post("/auth/pair", {"request": self.asked["request"]}).status == 200:
            self.client.delete(f"/box/devices/requests/{self.asked['number']}")


def read(uri):
    """{h, n, p, c} of comanda://pair?…"""
    parts = urllib.parse.urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.path) == ("comanda", "pair", "")
    return {name: values[0] for name, values in urllib.parse.parse_qs(parts.query, strict_parsing=True).items()}


def pin_of(certificate):
    key = certificate.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.urlsafe_b64encode(hashlib.sha256(key).digest()).rstrip(b"=").decode()


def sent_chain(host, port):
    """The certificates that a server sends, which TLS 1.2 sends unencrypted: read without trusting any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=host)
    received = b""
    with socket.create_connection((host, port), timeout=PATIENCE_S) as plain:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                plain.sendall(outgoing.read())
                more = plain.recv(65536)
                assert more, "the server has closed"
                received += more
                incoming.write(more)
    messages = b""
    while received:  # the records of type handshake
        kind, size = received[0], int.from_bytes(received[3:5], "big")
        if kind != 22:
            break
        messages, received = messages + received[5:5 + size], received[5 + size:]
    while messages:
        kind, size = messages[0], int.from_bytes(messages[1:4], "big")
        body, messages = messages[4:4 + size], messages[4 + size:]
        if kind == 11:
            chain, body = [], body[3:]
            while body:
                size = int.from_bytes(body[:3], "big")
                chain.append(x509.load_der_x509_certificate(body[3:3 + size]))
                body = body[3 + size:]
            return chain
    raise AssertionError("no certificate was sent")


def pinned_authority(uri):
    """The certificate of the chain that has the pin, PEM; what a device trusts from then on."""
    code = read(uri)
    host, _, port = code["h"].rpartition(":")
    found = [one for one in sent_chain(host, int(port)) if pin_of(one) == code["p"]]
    assert len(found) == 1, "the box is not the one of the QR code"
    return found[0].public_bytes(serialization.Encoding.PEM).decode()


def post_code(port, context, code, source="127.0.0.1"):
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE_S, context=context,
                                             source_address=(source, 0))
    try:
        connection.request("POST", "/auth/pair", body=json.dumps({"code": code}), headers={"Content-Type": "application/json"})
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def pair(uri, source="127.0.0.1"):
    """(answer, authority PEM)"""
    authority = pinned_authority(uri)
    context = ssl.create_default_context(cadata=authority)
    code = read(uri)
    return post_code(int(code["h"].rpartition(":")[2]), context, code["c"], source), authority
