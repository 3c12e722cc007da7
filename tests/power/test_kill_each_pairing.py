"""kill -9 at the n-th write and sync of a server that exchanges a pairing code, until an exchange passes without a kill: the
code makes one key at most, and one that was handed out works. Needs root (support.killer)."""

import contextlib
import http.client
import ssl

import pytest

from support import pairing
from support.box import PATIENCE_S, Box
from support.killer import lie_in_wait, threads


@pytest.fixture
def box():
    box = Box()
    box.bring_in("demo")
    box.start()
    yield box
    box.discard()


def post(box, code):
    """The key that was handed out; nothing where the line was lost or the code refused."""
    context = ssl.create_default_context(cafile=str(box.cafile))
    try:
        answer = pairing.post_code(box.port, context, code)
    except (OSError, http.client.HTTPException):
        return None
    assert answer.status in (201, 404), answer.body
    return answer.data["key"] if answer.status == 201 else None


def works(box, key):
    with contextlib.closing(box.client(key)) as client:
        return client.get("/v1/orders").status == 200


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync"])
def test_a_code_makes_one_key_whenever_the_server_is_killed(box, call):
    killed = handed_out_later = 0
    for nth in range(1, 100):
        uri = pairing.make_uri(box)
        code, made = pairing.read(uri)["c"], box.value("SELECT id FROM pairing_code ORDER BY made_at DESC, id DESC LIMIT 1")
        assassin = lie_in_wait(threads(box.process.pid, "write "), call, nth)
        keys = [post(box, code)]
        was_killed = keys[0] is None
        if was_killed:
            box.process.wait(PATIENCE_S)
            assert box.process.returncode == -9, box.log_text()
            box.start()
            killed += 1
        else:
            assassin.terminate()
        assassin.wait(PATIENCE_S)
        keys += [post(box, code) for _ in range(2)]
        handed_out_later += was_killed and any(keys[1:])
        handed_out = [key for key in keys if key]
        audited = box.value("SELECT count(*) FROM audit WHERE action = 'key.created' AND actor = ?", "pairing:" + made)
        assert len(handed_out) <= 1 and audited == 1, (nth, keys, audited)
        assert all(works(box, key) for key in handed_out)
        if not was_killed:
            break
    print(f"{killed} kills at {call}; after {handed_out_later} the code still worked")
    assert killed >= 1
