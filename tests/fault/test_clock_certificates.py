"""The clock is wrong, and becomes right: devices that trust the box's authority accept its certificate then, without a
restart, and the authority that they trust is never replaced (contract section 1, Timestamps)."""

import contextlib
import hashlib
import signal
import ssl
import time

import pytest

from support.box import PATIENCE_S
from support.openssl import make_dated_authority, make_pair, verify_at
from support.waiting import wait_until
from support.wall_clock import ClockBox, is_accepted, until

DAY = 86400
YEAR = 365 * DAY


@pytest.fixture
def box():
    box = ClockBox(options=["--sandbox-listen", "", "--workers", "16"])
    box.bring_in("demo")
    yield box
    box.discard()


def ask(box, path="/readyz", key=None):
    with contextlib.closing(box.client_without_dates(key)) as client:
        return client.get(path)


def checks(box):
    return ask(box).json["checks"]


def read_again(box):
    """Until the server has looked at its certificate by the clock of now."""
    seen = box.log_text().count("read again")
    box.signal(signal.SIGHUP)
    wait_until(lambda: box.log_text().count("read again") > seen, box.log_text)


def authority(box):
    return box.cafile.read_bytes()


@pytest.mark.parametrize("how", ["while it runs", "at a restart"])
@pytest.mark.parametrize("with_a_device", [False, True], ids=["nobody came", "a device came"])
@pytest.mark.parametrize("ahead", [400 * DAY, -700 * DAY, -30 * YEAR, 40 * YEAR], ids=lambda s: f"{s // DAY} days")
def test_a_first_start_with_a_wrong_clock_does_no_harm(box, ahead, with_a_device, how):
    key = box.make_key()["key"]
    box.start_at(ahead)
    assert ask(box).status == 200
    if with_a_device:
        assert ask(box, "/v1/orders", key).status == 200
    before = authority(box)
    if how == "while it runs":
        box.set_ahead(0)
    else:
        box.stop()
        box.start_at(0)
    until(lambda: is_accepted(box))
    assert authority(box) == before, "it is valid from the build date on, whatever the clock said"
    assert "certificate" not in checks(box)


@pytest.mark.parametrize("heal", ["a reload", "the minute", "a restart"])
def test_a_certificate_that_is_not_valid_now_is_made_again(box, heal):
    """A server certificate that begins in two years, of an authority that is valid."""
    box.start_at(800 * DAY)
    assert not is_accepted(box)
    old = (box.data / "tls/server.crt").read_bytes(), (box.data / "tls/server.key").read_bytes()
    box.stop()
    box.start_at(0)
    assert is_accepted(box), "at a start"
    for content, file in zip(old, ("server.crt", "server.key")):
        (box.data / "tls" / file).write_bytes(content)
    if heal == "a reload":
        box.signal(signal.SIGHUP)
        until(lambda: (box.data / "tls/server.crt").read_bytes() != old[0])
    elif heal == "the minute":
        wait_until(lambda: (box.data / "tls/server.crt").read_bytes() != old[0], box.log_text, 60 + PATIENCE_S)
    else:
        box.stop()
        box.start_at(0)
        assert (box.data / "tls/server.crt").read_bytes() != old[0]
    assert is_accepted(box)


def test_the_certificate_follows_the_clock_of_the_box_to_both_sides(box):
    box.start_at(0)
    before = authority(box)
    for ahead in (500 * DAY, 0, 1500 * DAY, 3 * DAY, 0):
        box.set_ahead(ahead)
        now = time.time() + ahead
        until(lambda: verify_at(box.cafile, box.data / "tls/server.crt", now))
        until(lambda: ahead > 4 * DAY or is_accepted(box))
    assert authority(box) == before


def test_a_clock_that_is_wrong_by_less_than_two_months_disturbs_no_device(box):
    box.start_at(0)
    for ahead in (30 * DAY, 55 * DAY, 0, 20 * DAY):
        box.set_ahead(ahead)
        read_again(box)
        assert is_accepted(box)


def dated_authority(box, begin, end, trusted):
    """A box whose authority has these dates, in seconds from now."""
    key = box.make_key()["key"]
    box.start_at(0)
    if trusted:
        assert ask(box, "/v1/orders", key).status == 200
    box.stop()
    make_dated_authority(box.data / "tls", begin, end)
    if not trusted:
        fingerprint = ssl.PEM_cert_to_DER_cert(box.cafile.read_text())
        digest = hashlib.sha256(fingerprint).hexdigest().upper()
        text = ":".join(digest[i:i + 2] for i in range(0, len(digest), 2))
        (box.data / "tls/ca.trust").write_text(f"unused {text}\n")
    return key


BAD_DATES = {"not valid yet": (400 * DAY, 4000 * DAY), "ended": (-800 * DAY, -100 * DAY)}


@pytest.mark.parametrize("dates", BAD_DATES.values(), ids=BAD_DATES)
def test_an_authority_that_nobody_can_have_trusted_is_made_again(box, dates):
    dated_authority(box, *dates, trusted=False)
    before = authority(box)
    box.start_at(0)
    assert authority(box) != before
    assert "made a new certificate authority" in box.log_text()
    assert is_accepted(box)


@pytest.mark.parametrize("dates", BAD_DATES.values(), ids=BAD_DATES)
def test_an_authority_that_devices_can_have_trusted_is_kept_and_the_box_says_what_to_do(box, dates):
    key = dated_authority(box, *dates, trusted=True)
    before = authority(box)
    box.start_at(0)
    assert authority(box) == before
    state = checks(box)["certificate"]
    assert state["ok"] and "comanda tls renew-authority" in state["state"] and "set the clock" in state["state"]
    assert box.log_text().count(state["state"].split(";")[0]) == 1, "once, not every minute"
    read_again(box)
    assert authority(box) == before
    box.command("tls", "renew-authority", "--yes", "--data", str(box.data))
    box.signal(signal.SIGHUP)
    until(lambda: is_accepted(box))
    assert "certificate" not in checks(box)
    assert ask(box, "/v1/orders", key).status == 200


def test_an_authority_of_an_older_program_counts_as_trusted(box):
    dated_authority(box, *BAD_DATES["not valid yet"], trusted=True)
    (box.data / "tls/ca.trust").unlink()
    before = authority(box)
    box.start_at(0)
    assert authority(box) == before
    assert "certificate" in checks(box)


def test_a_trusted_authority_outlives_every_clock(box):
    key = box.make_key()["key"]
    box.start_at(0)
    assert ask(box, "/v1/orders", key).status == 200
    before = authority(box)
    for ahead in (-40 * YEAR, 10 * YEAR - 90 * DAY, 12 * YEAR, 100 * YEAR, -700 * DAY):
        box.set_ahead(ahead)
        box.signal(signal.SIGHUP)
        until(lambda: ask(box).status == 200)
        box.stop()
        box.start_at(ahead)
        assert ask(box, "/v1/orders", key).status == 200, "orders go on"
        assert authority(box) == before
        assert ("certificate" in checks(box)) == (ahead >= 9 * YEAR)
    box.set_ahead(0)
    until(lambda: is_accepted(box))
    assert authority(box) == before


def test_readyz_and_the_log_say_what_is_wrong_with_the_clock(box):
    box.start_at(-30 * YEAR)
    state = checks(box)["clock"]
    assert state["ok"] and "this program was built on" in state["state"] and "`comanda doctor` says how" in state["state"]
    box.wait_for_log("the clock is wrong")
    box.set_ahead(0)
    until(lambda: "it was stepped to" in checks(box)["clock"]["state"])
    box.stop()
    box.start_at(0)
    state = checks(box)["clock"]["state"]
    assert "it was stepped to" in state and "built" not in state, "until it has stood for a day"


@pytest.mark.parametrize("ahead, words", [(40 * DAY, "it ended on"), (-2 * DAY, "it is valid from")],
                         ids=["after its end", "before it begins"])
def test_the_owners_certificate_is_never_replaced_but_told_about(tmp_path, ahead, words):
    pair = make_pair(tmp_path, "owner")  # for 30 days
    box = ClockBox(options=["--sandbox-listen", "", *pair.options], cafile=pair.certificate)
    box.bring_in("demo")
    content = pair.certificate.read_bytes()
    try:
        box.start_at(ahead)
        state = checks(box)["certificate"]
        assert state["ok"] and words in state["state"] and "tls_certificate" in state["state"]
        assert words in box.log_text()
        assert is_accepted(box)
        box.set_ahead(0)
        until(lambda: "certificate" not in checks(box))
        box.set_ahead(ahead)
        until(lambda: "certificate" in checks(box))
        box.stop()
        assert pair.certificate.read_bytes() == content
        assert not (box.data / "tls").exists()
    finally:
        box.discard()
