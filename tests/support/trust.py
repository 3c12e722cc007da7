"""Clients that trust a certificate authority, and what a thief of the issuing key could sign."""

import contextlib
import datetime
import http.client
import http.server
import ipaddress
import pathlib
import ssl
import subprocess
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from support.box import PATIENCE_S, ROOT
from support.openssl import Pair


def accepts(client, cafile, url, directory):
    """Whether the client connects to the URL when it trusts the file alone."""
    url = url + "/"
    host, _, port = url.split("/")[2].rpartition(":")
    if client == "python":
        try:
            with contextlib.closing(http.client.HTTPSConnection(
                    host, int(port), timeout=PATIENCE_S, context=ssl.create_default_context(cafile=cafile))) as connection:
                connection.request("GET", "/")
                connection.getresponse().read()
            return True
        except ssl.SSLCertVerificationError:
            return False
    is_address = host[0].isdigit()
    if client == "java":
        store = pathlib.Path(directory) / "trust.p12"
        if not store.exists():
            subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "comanda", "-file", str(cafile), "-keystore",
                            str(store), "-storepass", "changeit"], check=True, capture_output=True)
    words, refusals = {
        "openssl": (["openssl", "s_client", "-connect", f"{host}:{port}", "-CAfile", str(cafile), "-verify_return_error",
                     "-verify_ip" if is_address else "-verify_hostname", host], {1}),
        "curl": (["curl", "-sS", "--noproxy", "*", "-o", "/dev/null", "--cacert", str(cafile), url], {60}),
        "node": (["node", "-e", "const [ca, url] = process.argv.slice(1); require('https').get(url, {ca: require('fs')"
                  ".readFileSync(ca)}, r => { r.resume(); process.exit(0) }).on('error', e => { console.error(e.code); "
                  "process.exit(3) })", str(cafile), url], {3}),
        "java": (["java", str(ROOT / "tests/support/Trust.java"), str(pathlib.Path(directory) / "trust.p12"), url], {3}),
    }[client]
    done = subprocess.run(words, capture_output=True, text=True, input="", timeout=PATIENCE_S * 4)
    assert done.returncode in {0} | refusals, (done.returncode, done.stdout, done.stderr)
    return done.returncode == 0


def sign(box, names, addresses, directory):
    """A server certificate that the stolen issuing key signs: a file with its chain and key."""
    tls = box.data / "tls"
    issuing = x509.load_pem_x509_certificate((tls / "issuing.crt").read_bytes())
    issuing_key = serialization.load_pem_private_key((tls / "ca.key").read_bytes(), None)
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName(name) for name in names] + [x509.IPAddress(ipaddress.ip_address(one)) for one in addresses]
    leaf = (x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(issuing.subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=30))
            .add_extension(x509.SubjectAlternativeName(names), critical=True)
            .add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuing.public_key()), critical=False)
            .sign(issuing_key, hashes.SHA256()))
    file = pathlib.Path(directory) / f"stolen-{leaf.serial_number}.pem"
    file.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                       serialization.NoEncryption()) + leaf.public_bytes(serialization.Encoding.PEM)
                     + (tls / "issuing.crt").read_bytes() + (tls / "ca.crt").read_bytes())
    return file


@contextlib.contextmanager
def server(file):
    """Its port on 127.0.0.1."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"served")

        def log_message(self, *words):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as listening:
        listening.handle_error = lambda *_: None
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening.server_port
        listening.shutdown()


def make_older_pair(directory, days=60):
    """(authority's certificate, pair): valid for `days` already, for clients whose clock is behind."""
    directory = pathlib.Path(directory)
    now = datetime.datetime.now(datetime.timezone.utc)

    def certificate(name, key, issuer, issuer_key):
        common = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        return (x509.CertificateBuilder().subject_name(common).issuer_name(issuer or common).public_key(key.public_key())
                .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=days))
                .not_valid_after(now + datetime.timedelta(days=30))
                .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
                .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
                .sign(issuer_key, hashes.SHA256()))

    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    root = certificate("Root", keys[0], None, keys[0])
    leaf = certificate("server", keys[1], root.subject, keys[0])
    files = [directory / name for name in ("root.crt", "server.crt", "server.key")]
    for file, content in zip(files, [root, leaf]):
        file.write_bytes(content.public_bytes(serialization.Encoding.PEM))
    files[2].write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                               serialization.NoEncryption()))
    return files[0], Pair(files[1], files[2])
