"""What an older program left is upgraded when the server starts, with every order as it was told (support/past.py). Kills and
power cuts on the way: tests/power/test_upgrade.py."""

import pytest

from support.box import Box
from support.past import NEWEST, VERSIONS, check_upgraded, look, unpack


def test_a_database_of_the_version_before_the_newest_is_kept():
    assert VERSIONS[0] == 1 and VERSIONS[-1] == NEWEST - 1, "a new migration needs past/N.db.xz of the version before it"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_database_is_upgraded(version):
    box = Box(options=["--sandbox-listen", ""])
    unpack(version, box.data)
    old = (box.data / "live.db").read_bytes()
    box.start()
    check_upgraded(box, version)
    assert look(box.data)[0] == NEWEST
    copies = list(box.data.glob("*.before-*"))
    assert [copy.name for copy in copies] == [f"live.db.before-{version + 1}"], "one copy, to go back to"
    (box.data / "back").mkdir()
    copies[0].rename(box.data / "back/live.db")
    (box.data / "old").mkdir()
    (box.data / "old/live.db").write_bytes(old)
    assert look(box.data / "back") == look(box.data / "old")
    assert box.discard() == 0
