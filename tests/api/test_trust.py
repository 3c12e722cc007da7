"""What trusts the box: openssl, curl, Python, Node and Java accept it with the root ca.crt, and refuse what a thief of the
issuing key could sign beyond the constraints."""

import shutil
import subprocess

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from support import pairing
from support.box import Box
from support.trust import accepts, server, sign

CLIENTS = ["openssl", "curl", "python", "node", "java"]


@pytest.fixture(scope="module")
def box():
    box = Box()
    box.start()
    yield box
    assert box.discard() == 0


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_client_with_the_root_accepts_the_box(box, client, host, tmp_path):
    assert accepts(client, box.cafile, f"https://{host}:{box.port}", tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_with_another_root_refuses_it(box, client, tmp_path):
    other = Box()
    try:
        other.start()
        assert not accepts(client, other.cafile, f"https://localhost:{box.port}", tmp_path)
    finally:
        other.discard()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_stolen_issuing_key_can_be_nothing_but_a_box(box, client, tmp_path):
    """Each bad name stands beside the good one by which the client calls."""
    for names, addresses, host, good in [
            (["localhost", "other.local"], ["10.1.2.3", "fd12::1"], "localhost", True),
            (["localhost", "example.com"], [], "localhost", False),
            (["localhost", "notlocal"], [], "localhost", False),
            ([], ["127.0.0.1", "192.168.7.7", "172.31.0.1"], "127.0.0.1", True),
            ([], ["127.0.0.1", "8.8.8.8"], "127.0.0.1", False),
            ([], ["127.0.0.1", "2606:4700::1111"], "127.0.0.1", False)]:
        with server(sign(box, names, addresses, tmp_path)) as port:
            assert accepts(client, box.cafile, f"https://{host}:{port}", tmp_path) == good, (names, addresses)


def test_the_key_of_the_root_is_nowhere(box):
    root = x509.load_pem_x509_certificate(box.cafile.read_bytes())
    number = root.public_key().public_numbers()
    for file in box.data.rglob("*"):
        if file.is_file() and b"PRIVATE KEY" in file.read_bytes():
            key = serialization.load_pem_private_key(file.read_bytes(), None)
            assert key.public_key().public_numbers() != number, file


def test_root_and_authority_are_as_devices_need_them(box):
    root = x509.load_pem_x509_certificate(box.cafile.read_bytes())
    issuing = x509.load_pem_x509_certificate((box.data / "tls/issuing.crt").read_bytes())
    leaf = x509.load_pem_x509_certificate((box.data / "tls/server.crt").read_bytes())
    assert [one.public_bytes(serialization.Encoding.DER) for one in pairing.sent_chain("127.0.0.1", box.port)] == [
        one.public_bytes(serialization.Encoding.DER) for one in (leaf, issuing, root)]
    lengths = [one.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length for one in (root, issuing)]
    assert lengths == [1, 0]
    with pytest.raises(x509.ExtensionNotFound):
        root.extensions.get_extension_for_class(x509.NameConstraints)
    constraints = issuing.extensions.get_extension_for_class(x509.NameConstraints)
    assert not constraints.critical and constraints.value.excluded_subtrees is None
    permitted = [str(one.value) for one in constraints.value.permitted_subtrees]
    assert {"localhost", "local", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1/128"} <= set(permitted)
    years = [round((one.not_valid_after - one.not_valid_before).days / 365.25) for one in (root, issuing)]
    assert years[0] in (20, 21) and years[1] == 10
    assert (leaf.not_valid_after - leaf.not_valid_before).days == 90


def test_a_new_bare_name_is_left_out_and_everything_else_goes_on(tmp_path):
    """The host gets another name: here by the setting `hosts`, which a test can change."""
    box = Box(data=tmp_path)
    try:
        box.start()
        authority = box.cafile.read_bytes()
        assert box.stop() == 0
        box.options += ["--hosts", "caja2,caja2.local,10.9.8.7,shop.example"]
        box.start()
        names = x509.load_pem_x509_certificate((box.data / "tls/server.crt").read_bytes()).extensions.get_extension_for_class(
            x509.SubjectAlternativeName).value
        assert "caja2.local" in names.get_values_for_type(x509.DNSName)
        assert "10.9.8.7" in [str(one) for one in names.get_values_for_type(x509.IPAddress)]
        assert {"caja2", "shop.example"}.isdisjoint(names.get_values_for_type(x509.DNSName))
        assert "without=\"caja2 shop.example\"" in box.log_text()
        assert box.cafile.read_bytes() == authority
        box.settings = "hosts = caja2,shop.example\n"
        box.command("tls", "renew-authority", "--yes", "--data", str(box.data))
        assert box.stop() == 0
        box.start()
        names = x509.load_pem_x509_certificate((box.data / "tls/server.crt").read_bytes()).extensions.get_extension_for_class(
            x509.SubjectAlternativeName).value
        assert {"caja2", "shop.example", "caja2.local"} <= set(names.get_values_for_type(x509.DNSName))
    finally:
        box.discard()


@pytest.mark.parametrize("damage", ["missing", "empty", "damaged"])
def test_a_lost_issuing_certificate_is_restored_from_the_chain(tmp_path, damage):
    box = Box(data=tmp_path)
    try:
        box.start()
        assert box.stop() == 0
        file = box.data / "tls/issuing.crt"
        text = file.read_text()
        file.unlink() if damage == "missing" else file.write_text("" if damage == "empty" else "no PEM")
        box.start()
        assert file.read_text() == text and "issuing.crt was lost" in box.log_text()
    finally:
        box.discard()


def test_a_box_of_an_older_program_keeps_its_authority(tmp_path):
    """One self-signed authority that signs itself: devices trust it."""
    box = Box(data=tmp_path)
    tls = tmp_path / "tls"
    tls.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "3650", "-subj", "/CN=Comanda old", "-keyout", tls / "ca.key", "-out", tls / "ca.crt", "-addext",
                    "keyUsage=critical,keyCertSign,cRLSign"], check=True, capture_output=True)
    before = {name: (tls / name).read_bytes() for name in ("ca.crt", "ca.key")}
    try:
        box.start()
        assert {name: (tls / name).read_bytes() for name in before} == before
        assert not (tls / "issuing.crt").exists()
        assert len(pairing.sent_chain("127.0.0.1", box.port)) == 2
        for client in CLIENTS:
            assert accepts(client, box.cafile, f"https://localhost:{box.port}", tmp_path), client
    finally:
        box.discard()
