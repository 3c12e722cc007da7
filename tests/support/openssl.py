"""Certificates of an owner, made with the openssl command as a technician would."""

import dataclasses
import datetime
import pathlib
import subprocess
import tempfile
import time

from support.waiting import PATIENCE_S


@dataclasses.dataclass
class Pair:
    certificate: pathlib.Path
    key: pathlib.Path

    @property
    def options(self):
        return ["--tls_certificate", str(self.certificate), "--tls_key", str(self.key)]


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=PATIENCE_S * 2)


def make_pair(directory, name, kind="ec", hosts=("localhost",)):
    """A self-signed certificate for these names, and for 127.0.0.1."""
    pair = Pair(pathlib.Path(directory) / f"{name}.crt", pathlib.Path(directory) / f"{name}.key")
    algorithm = {"ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
                 "rsa": ["-newkey", "rsa:2048"]}[kind]
    openssl("req", "-x509", *algorithm, "-nodes", "-days", 30, "-subj", f"/CN={name}", "-keyout", pair.key,
            "-out", pair.certificate, "-addext", "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts) + ",IP:127.0.0.1")
    return pair


def make_chain(directory, address="127.0.0.1"):
    """(root certificate, pair): the pair's file holds the leaf and the intermediate that signed it."""
    directory = pathlib.Path(directory)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign", "subjectKeyIdentifier=hash"]
    signed = ["authorityKeyIdentifier=keyid"]
    ca = directory / "ca.ext"
    ca.write_text("\n".join(authority + signed))
    leaf = directory / "leaf.ext"
    leaf.write_text("\n".join(signed + ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                                        "extendedKeyUsage=serverAuth", "subjectKeyIdentifier=hash",
                                        f"subjectAltName=DNS:localhost,IP:{address}"]))
    # Without the machine's openssl.cnf, which differs between releases and would duplicate some extensions.
    empty = directory / "empty.cnf"
    empty.write_text("[req]\ndistinguished_name=name\n[name]\n")
    files = {n: (directory / f"{n}.crt", directory / f"{n}.key") for n in ("root", "middle", "server")}
    openssl("req", "-x509", "-config", empty, *curve, "-days", 30, "-subj", "/CN=Root", "-keyout", files["root"][1],
            "-out", files["root"][0], *(word for line in authority for word in ("-addext", line)))
    for name, signer, extensions in (("middle", "root", ca), ("server", "middle", leaf)):
        request = directory / f"{name}.csr"
        openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", files[name][1], "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", files[signer][0], "-CAkey", files[signer][1],
                "-CAcreateserial", "-days", 20, "-extfile", extensions, "-out", files[name][0])
    chain = directory / "chain.crt"
    chain.write_text(files["server"][0].read_text() + files["middle"][0].read_text())
    return files["root"][0], Pair(chain, files["server"][1])


def in_asn1(seconds):
    return datetime.datetime.fromtimestamp(time.time() + seconds, datetime.timezone.utc).strftime("%Y%m%d%H%M%SZ")


def make_dated_authority(directory, begin, end):
    """ca.crt and ca.key, valid from `begin` to `end`: seconds from now."""
    directory = pathlib.Path(directory)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "index").touch()
        config = scratch / "ca.cnf"
        config.write_text(f"""[ca]
default_ca = here
[here]
new_certs_dir = {scratch}
database = {scratch}/index
default_md = sha256
policy = any
rand_serial = yes
x509_extensions = authority
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[req]
distinguished_name = name
[name]
""")
        openssl("req", "-new", "-config", config, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=Comanda dated", "-keyout", directory / "ca.key", "-out", scratch / "request")
        openssl("ca", "-config", config, "-selfsign", "-batch", "-notext", "-keyfile", directory / "ca.key", "-in",
                scratch / "request", "-startdate", in_asn1(begin), "-enddate", in_asn1(end), "-out", directory / "ca.crt")


def verify_at(authority, chain, instant):
    """Whether a client whose clock shows `instant` accepts the certificate."""
    return subprocess.run(["openssl", "verify", "-x509_strict", "-attime", str(int(instant)), "-CAfile", str(authority),
                           "-untrusted", str(chain), str(chain)], capture_output=True, timeout=PATIENCE_S * 2).returncode == 0
