import os
import pathlib
import random
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def seed():
    """Repeat a failure with COMANDA_SEED=<the seed that it printed>."""
    value = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(2**32)))
    print("seed", value)
    return value


def pytest_collection_modifyitems(config, items):
    """COMANDA_PART=N runs one test in N, others with each seed; it is the same choice in every process of a run."""
    part = int(os.environ.get("COMANDA_PART", 1))
    chosen_by = f"{os.environ.get('COMANDA_SEED', 0)} "
    left_out = [item for item in items if zlib.crc32((chosen_by + item.nodeid).encode()) % part]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
