import os
import pathlib
import random
import re
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from support.box import ENGINE, Box  # noqa: E402

if ENGINE == "postgresql":
    from support import postgresql

BOX_ONLY = "box_only: what comanda-head does not have: the database's file, backups, disks, delivery apps, a cloud of its own"


def pytest_configure(config):
    config.addinivalue_line("markers", BOX_ONLY)
    is_worker = hasattr(config, "workerinput")
    if ENGINE == "postgresql" and not is_worker and not config.option.collectonly:
        config.database_server = postgresql.Server()
        os.environ[postgresql.ADDRESS] = config.database_server.directory


def pytest_unconfigure(config):
    if hasattr(config, "database_server"):
        config.database_server.close()


def pytest_runtest_logfinish():
    if ENGINE == "postgresql":
        postgresql.drop_unused()


@pytest.fixture
def seed():
    """Repeat a failure with COMANDA_SEED=<the seed that it printed>."""
    value = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(2**32)))
    print("seed", value)
    return value


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure shows what each running box complained of: an answer such as 503 does not say why."""
    report = (yield).get_result()
    if not report.failed:
        return
    for box in Box.launched:
        if box.log_path.exists():
            complaints = [line for line in box.log_text().splitlines() if re.match("<[0-4]>", line)]
            report.sections.append((f"log of {box.data}", "\n".join(complaints[-20:])))


def pytest_collection_modifyitems(config, items):
    """COMANDA_PART=K/N runs the K-th of N parts of the tests, K from 0; each test is in one of them, always the same.
    With COMANDA_ENGINE=postgresql, no test runs that is about what that program does not have."""
    part, parts = map(int, os.environ.get("COMANDA_PART", "0/1").split("/"))
    left_out = [item for item in items if zlib.crc32(item.nodeid.encode()) % parts != part
                or ENGINE == "postgresql" and item.get_closest_marker("box_only")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
