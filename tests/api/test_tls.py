"""TLS 1.2 and 1.3 with ECDHE and AEAD alone; the box's own certificate, and its owner's."""

import contextlib
import shutil
import signal
import socket
import ssl

import pytest

from support import terminal
from support.box import Box, PATIENCE_S
from support.openssl import make_chain, make_pair
from support.raw import Wire, head
from support.waiting import wait_until


def context_of(box, version=None, ciphers=None, protocols=None):
    context = box.client().tls()
    if ciphers:
        # Level 0: the client must offer what it would refuse by itself.
        context.set_ciphers(ciphers + ":@SECLEVEL=0")
    if version:
        context.minimum_version = context.maximum_version = version
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def certificate(box):
    """What a new connection is shown."""
    with Wire(box, context_of(box)) as wire:
        return wire.socket.getpeercert()


def subject(box):
    return dict(part[0] for part in certificate(box)["subject"])["commonName"]


@pytest.mark.parametrize("version, name", [(ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")])
def test_tls_1_2_and_1_3_are_spoken(box, version, name):
    with Wire(box, context_of(box, version)) as wire:
        assert wire.socket.version() == name
        assert wire.is_open()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_older_versions_are_refused_by_the_server(box, version):
    with pytest.raises(ssl.SSLError, match="(?i)alert protocol version"):
        Wire(box, context_of(box, version, "ALL"))


GOOD_SUITES = ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"]
WEAK_SUITES = [
    "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-SHA",
    "ECDHE-ECDSA-AES128-CCM", "ECDHE-ECDSA-AES128-CCM8"]
GOOD_RSA_SUITES = [s.replace("ECDSA", "RSA") for s in GOOD_SUITES]
WEAK_RSA_SUITES = [
    "AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA256", "ECDHE-RSA-AES128-SHA",
    "ECDHE-RSA-AES256-SHA384", "DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-CHACHA20-POLY1305"]


def speaks(box, suite):
    with Wire(box, context_of(box, ssl.TLSVersion.TLSv1_2, suite)) as wire:
        assert wire.socket.cipher()[0] == suite
        return wire.is_open()


def refuses(box, suite):
    with pytest.raises(ssl.SSLError, match="(?i)alert handshake failure"):
        Wire(box, context_of(box, ssl.TLSVersion.TLSv1_2, suite))
    return True


@pytest.mark.parametrize("suite", GOOD_SUITES)
def test_ecdhe_with_aead_is_spoken(box, suite):
    assert speaks(box, suite)


@pytest.mark.parametrize("suite", WEAK_SUITES + WEAK_RSA_SUITES)
def test_every_other_suite_is_refused(box, suite):
    assert refuses(box, suite)


@pytest.mark.parametrize("curve", ["prime256v1", "secp384r1"])
def test_a_client_with_one_curve_alone_is_served(box, curve):
    context = context_of(box)
    context.set_ecdh_curve(curve)
    with Wire(box, context) as wire:
        assert wire.is_open()


@pytest.mark.parametrize("offered", [["http/1.1"], ["h2", "http/1.1"]])
def test_alpn_chooses_http_1_1(box, offered):
    with Wire(box, context_of(box, protocols=offered)) as wire:
        assert wire.socket.selected_alpn_protocol() == "http/1.1"
        assert wire.is_open()


def test_a_client_that_speaks_h2_alone_is_told_so(box):
    with pytest.raises(ssl.SSLError, match="(?i)no application protocol"):
        Wire(box, context_of(box, protocols=["h2"]))


def test_without_alpn_it_is_http_1_1(box):
    with Wire(box, context_of(box)) as wire:
        assert wire.socket.selected_alpn_protocol() is None
        assert wire.is_open()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_the_certificate_is_good_for_the_names_of_the_box(box, name):
    with socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S) as plain:
        with context_of(box).wrap_socket(plain, server_hostname=name) as tls:
            assert tls.getpeercert()


def test_the_certificate_names_this_machine(box):
    names = certificate(box)["subjectAltName"]
    host = socket.gethostname().lower()
    for name in [("DNS", "localhost"), ("DNS", "comanda.local"), ("DNS", host), ("IP Address", "127.0.0.1"),
                 ("IP Address", "0:0:0:0:0:0:0:1")]:
        assert name in names


def test_a_stranger_to_the_authority_does_not_trust_the_box(box):
    with pytest.raises(ssl.SSLCertVerificationError):
        Wire(box, ssl.create_default_context())


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_that_comes_again_resumes_its_session(box, version):
    context = context_of(box, version)
    with Wire(box, context) as first:
        assert first.is_open()
        assert not first.socket.session_reused
        session = first.socket.session
    plain = socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S)
    with context.wrap_socket(plain, server_hostname="localhost", session=session) as again:
        assert again.session_reused
        again.sendall(head("GET", "/healthz"))
        assert again.recv(12) == b"HTTP/1.1 200"


def test_half_a_handshake_and_garbage_do_not_disturb_the_others(box):
    for garbage in (b"", b"\x16\x03\x01", b"\x16\x03\x01\x00\x05hello", b"\x80" * 1000, b"\x00" * 70_000):
        with socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S) as plain:
            with contextlib.suppress(ConnectionError):
                plain.sendall(garbage)
    with Wire(box) as wire:
        assert wire.is_open()


# The owner's certificate


@pytest.fixture
def owned(tmp_path):
    """Makes a box that serves a pair of the owner."""
    boxes = []

    def make(pair, cafile=None):
        boxes.append(Box(options=pair.options, cafile=cafile or pair.certificate))
        return boxes[-1].start()

    yield make
    for box in boxes:
        assert box.discard() == 0


def test_the_owners_certificate_takes_the_place_of_our_own(owned, tmp_path):
    box = owned(make_pair(tmp_path, "owner"))
    assert subject(box) == "owner"
    assert not (box.data / "tls/ca.key").exists(), "an authority was made that nobody needs"


def test_the_names_of_the_owners_certificate_are_names_of_the_box(owned, tmp_path):
    box = owned(make_pair(tmp_path, "owner", hosts=("localhost", "Caja.example.pe", "*.tills.example.pe")))
    answers = {"caja.example.pe": 200, "caja.example.pe:8443": 200, "CAJA.EXAMPLE.PE": 200, "a.tills.example.pe": 200,
               "b.a.tills.example.pe": 421, "tills.example.pe": 421, ".tills.example.pe": 421, "example.pe": 421,
               "evilcaja.example.pe": 421, "a.tills.example.pe.evil.example": 421, "*.tills.example.pe": 400}
    with contextlib.closing(box.client()) as client:
        assert {host: client.get("/healthz", Host=host).status for host in answers} == answers

    other = make_pair(tmp_path, "other", hosts=("localhost", "caja2.example.pe"))
    shutil.copy(other.certificate, tmp_path / "owner.crt")
    shutil.copy(other.key, tmp_path / "owner.key")
    box.cafile = other.certificate

    def status_of(host):
        with contextlib.closing(box.client()) as client:
            try:
                return client.get("/healthz", Host=host).status
            except ssl.SSLCertVerificationError:  # the former one is still sent
                return None

    box.signal(signal.SIGHUP)
    wait_until(lambda: status_of("caja2.example.pe") == 200, box.log_text)
    assert status_of("caja.example.pe") == 421


def test_the_owners_chain_is_sent_whole(owned, tmp_path):
    root, pair = make_chain(tmp_path)
    assert subject(owned(pair, root)) == "server"


def test_an_rsa_certificate_serves_with_ecdhe_and_aead_alone(owned, tmp_path):
    box = owned(make_pair(tmp_path, "owner", "rsa"))
    assert all(speaks(box, suite) for suite in GOOD_RSA_SUITES)
    assert all(refuses(box, suite) for suite in WEAK_RSA_SUITES)
    with Wire(box, context_of(box, ssl.TLSVersion.TLSv1_3)) as wire:
        assert wire.is_open()


def swap(box, pair, replacement):
    for old, new in ((pair.certificate, replacement.certificate), (pair.key, replacement.key)):
        shutil.copy(new, old)
    box.signal(signal.SIGHUP)


def test_sighup_swaps_the_certificate_and_cuts_nobody(owned, tmp_path):
    pair = make_pair(tmp_path, "before")
    replacement = make_pair(tmp_path, "after", "rsa")
    trusted = tmp_path / "trusted.crt"
    trusted.write_text(pair.certificate.read_text() + replacement.certificate.read_text())
    box = owned(pair, trusted)
    with Wire(box) as connected:
        assert connected.is_open()
        swap(box, pair, replacement)
        wait_until(lambda: subject(box) == "after", box.log_text)
        assert connected.is_open()


def test_a_pair_that_does_not_fit_leaves_the_old_one_in_force(owned, tmp_path):
    pair = make_pair(tmp_path, "good")
    trusted = tmp_path / "trusted.crt"
    shutil.copy(pair.certificate, trusted)
    box = owned(pair, trusted)
    pair.key.write_text("this is no key\n")
    box.signal(signal.SIGHUP)
    box.wait_for_log("not applied")
    assert subject(box) == "good"


def test_files_that_cannot_be_read_leave_the_old_settings_in_force(owned, tmp_path):
    pair = make_pair(tmp_path, "good")
    trusted = tmp_path / "trusted.crt"
    shutil.copy(pair.certificate, trusted)
    box = owned(pair, trusted)
    pair.key.unlink()
    pair.key.mkdir()
    box.settings = "hosts = other.example\n"
    box.signal(signal.SIGHUP)
    box.wait_for_log("not applied")
    assert subject(box) == "good"
    with Wire(box) as wire:
        assert wire.is_open()


def test_sighup_keeps_a_certificate_of_our_own_that_is_still_good():
    box = Box()
    try:
        box.start()
        before = certificate(box)["serialNumber"]
        box.signal(signal.SIGHUP)
        box.wait_for_log("read again")
        assert certificate(box)["serialNumber"] == before
    finally:
        box.discard()


def test_an_authority_whose_renewal_was_cut_off_is_made_anew():
    """A power cut between its two files: the new key, the old certificate."""
    box, other = Box(), Box()
    try:
        for one in (box, other):
            one.start()
            assert one.stop() == 0
        shutil.copy(other.data / "tls/ca.key", box.data / "tls/ca.key")
        (box.data / "tls/server.crt").unlink()
        box.start()
        assert certificate(box)  # who trusts ca.crt trusts what is served
        assert box.stop() == 0
    finally:
        box.discard()
        other.discard()


def damage(box, damaged):
    file = box.data / "tls" / damaged.split()[0]
    if "missing" in damaged:
        file.unlink()
    else:
        file.write_text("" if "empty" in damaged else "no PEM")


DAMAGES = [f"{file} is {how}" for file in ("ca.crt", "ca.key", "server.crt", "server.key")
           for how in ("missing", "empty", "damaged")]


@pytest.mark.parametrize("damaged", DAMAGES)
def test_a_damaged_file_of_an_authority_that_nobody_trusts_yet_is_made_again(damaged):
    box = Box()
    try:
        box.start()
        authority = box.cafile.read_text()
        assert "authority" not in box.log_text().replace("authority=", "")  # the first one is no news
        box.stop()
        damage(box, damaged)
        box.start()
        assert certificate(box)  # who trusts ca.crt trusts what is served
        is_new = damaged.startswith("ca.key")
        assert (box.cafile.read_text() != authority) == is_new
        assert ("made a new certificate authority" in box.log_text()) == is_new
    finally:
        box.discard()


@pytest.fixture
def trusted():
    """A box whose authority a device has trusted."""
    box = Box()
    box.bring_in("demo")
    key = box.make_key()["key"]
    try:
        box.start()
        with contextlib.closing(box.client()) as nobody:
            assert nobody.get("/v1/orders").status == 401
        assert (box.data / "tls/ca.trust").read_text().startswith("unused ")
        with contextlib.closing(box.client(key)) as device:
            assert device.get("/v1/orders").status == 200
        assert (box.data / "tls/ca.trust").read_text() == "used\n", "before the answer"
        yield box
    finally:
        box.discard()


def trouble(box):
    with contextlib.closing(box.client()) as client:
        answer = client.get("/readyz")
        assert answer.status == 200
        return answer.json["checks"].get("certificate", {}).get("state", "")


@pytest.mark.parametrize("damaged", DAMAGES)
def test_an_authority_that_devices_trust_outlives_damaged_files_and_the_box_says_what_is_missing(trusted, damaged):
    authority = trusted.cafile.read_text()
    before = certificate(trusted)["serialNumber"]
    assert trusted.stop() == 0
    damage(trusted, damaged)
    if damaged.startswith("ca.crt"):
        cafile = trusted.data / "known.crt"
        cafile.write_text(authority)
        trusted.cafile, restored = cafile, trusted.cafile
        trusted.start()
        trusted.cafile = restored
    else:
        trusted.start()
    assert trusted.cafile.read_text() == authority
    assert (certificate(trusted)["serialNumber"] == before) == damaged.startswith("ca.")
    says = "restore tls/ca.key from a backup"
    assert (says in trouble(trusted)) == (says in trusted.log_text()) == damaged.startswith("ca.key")


def test_nothing_takes_the_place_of_an_authority_that_devices_trust_where_all_is_lost(trusted):
    assert trusted.stop() == 0
    for file in ("ca.key", "server.key"):
        (trusted.data / "tls" / file).unlink()
    authority = trusted.cafile.read_text()
    words = ["serve", "--data", str(trusted.data), "--listen", f"127.0.0.1:{trusted.port}"]
    result = trusted.command(*words, check=False)
    assert result.returncode == 70
    assert "restore the directory from a backup" in result.stderr
    assert trusted.cafile.read_text() == authority
    trusted.command("tls", "renew-authority", "--yes", "--data", str(trusted.data))
    trusted.start()
    assert certificate(trusted) and trusted.cafile.read_text() != authority


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_lost_directory_of_an_authority_that_devices_trust_is_no_first_start(trusted, how):
    assert trusted.stop() == 0
    shutil.rmtree(trusted.data / "tls")
    if how == "empty":
        (trusted.data / "tls").mkdir()
    words = ["serve", "--data", str(trusted.data), "--listen", f"127.0.0.1:{trusted.port}"]
    result = trusted.command(*words, check=False)
    assert result.returncode == 70
    assert "restore the directory from a backup" in result.stderr and "tls renew-authority" in result.stderr
    assert not trusted.cafile.exists()
    trusted.command("tls", "renew-authority", "--yes", "--data", str(trusted.data))
    trusted.start()
    assert certificate(trusted)


def test_a_directory_that_no_device_trusted_is_made_again():
    box = Box()
    try:
        box.start()
        assert box.stop() == 0
        shutil.rmtree(box.data / "tls")
        box.start()
        assert certificate(box)
    finally:
        box.discard()


def test_a_lost_key_is_taken_up_again_by_a_reload(trusted):
    key = trusted.data / "tls/ca.key"
    text = key.read_text()
    key.unlink()
    trusted.signal(signal.SIGHUP)
    wait_until(lambda: trouble(trusted), "the trouble is reported")
    key.write_text(text)
    trusted.signal(signal.SIGHUP)
    wait_until(lambda: not trouble(trusted), "the trouble has ended")


def test_a_renewed_authority_is_served_after_a_reload(trusted):
    authority = trusted.cafile.read_text()
    said = trusted.command("tls", "renew-authority", "--yes", "--data", str(trusted.data)).stdout
    assert "Install it on every device" in said
    assert trusted.cafile.read_text() != authority
    trusted.signal(signal.SIGHUP)
    trusted.wait_for_log("read again")
    assert certificate(trusted)
    assert (trusted.data / "tls/ca.trust").read_text().startswith("unused ")
    key = trusted.make_key()["key"]
    with contextlib.closing(trusted.client(key)) as device:
        assert device.get("/v1/orders").status == 200
    assert (trusted.data / "tls/ca.trust").read_text() == "used\n"


def test_a_new_authority_is_made_where_a_person_says_so(trusted):
    words = ["tls", "renew-authority", "--data", str(trusted.data)]
    before = trusted.cafile.read_bytes()
    result = trusted.command(*words, check=False)
    assert result.returncode == 2 and "--yes" in result.stderr, result
    code, said = terminal.answer(words, b"\n")
    assert code == 1 and "EVERY DEVICE refuses the box" in said and "nothing was changed" in said, said
    assert trusted.cafile.read_bytes() == before
    code, said = terminal.answer(words, b"y\n")
    assert code == 0 and "new authority" in said, said
    assert trusted.cafile.read_bytes() != before


def test_there_is_no_authority_to_renew_beside_the_owners_certificate(owned, tmp_path):
    pair = make_pair(tmp_path, "owner")
    box = owned(pair)
    box.settings = f"tls_certificate = {pair.certificate}\ntls_key = {pair.key}\n"
    result = box.command("tls", "renew-authority", "--yes", "--data", str(box.data), check=False)
    assert result.returncode == 1 and "no authority to renew" in result.stderr
    assert not box.cafile.with_name("ca.crt").exists()


def test_a_restart_keeps_authority_and_certificate():
    box = Box()
    try:
        box.start()
        before, authority = certificate(box)["serialNumber"], box.cafile.read_text()
        box.stop()
        box.start()
        assert certificate(box)["serialNumber"] == before
        assert box.cafile.read_text() == authority
    finally:
        box.discard()


@pytest.mark.parametrize("damage, says", [
    (lambda pair, other: pair.key.unlink(), "tls_key"),
    (lambda pair, other: pair.certificate.unlink(), "tls_certificate"),
    (lambda pair, other: pair.certificate.write_text("no PEM"), "certificate"),
    (lambda pair, other: pair.key.write_text("no PEM"), "key"),
    (lambda pair, other: shutil.copy(other.key, pair.key), "key"),
], ids=["no key", "no certificate", "a damaged certificate", "a damaged key", "another's key"])
def test_a_pair_that_cannot_be_used_refuses_to_start_and_says_why(tmp_path, damage, says):
    pair, other = make_pair(tmp_path, "one"), make_pair(tmp_path, "two")
    damage(pair, other)
    box = Box()
    try:
        result = box.command("serve", "--data", str(box.data), "--listen", f"127.0.0.1:{box.port}", *pair.options,
                             check=False)
        assert result.returncode == 1, result
        assert says in result.stderr
    finally:
        box.discard()


@pytest.mark.parametrize("option", ["--tls_certificate", "--tls_key"])
def test_a_certificate_without_its_key_or_the_reverse_is_refused(option):
    box = Box()
    try:
        result = box.command("serve", "--data", str(box.data), option, "/nowhere", check=False)
        assert result.returncode == 1, result
        assert "together" in result.stderr
    finally:
        box.discard()
