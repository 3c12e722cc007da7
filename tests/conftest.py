import os
import pathlib
import random
import re
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from support.box import Box  # noqa: E402


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
    """COMANDA_PART=K/N runs the K-th of N parts of the tests, K from 0; each test is in one of them, always the same."""
    part, parts = map(int, os.environ.get("COMANDA_PART", "0/1").split("/"))
    left_out = [item for item in items if zlib.crc32(item.nodeid.encode()) % parts != part]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
