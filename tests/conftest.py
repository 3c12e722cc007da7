import os
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def seed():
    """Repeat a failure with COMANDA_SEED=<the seed that it printed>."""
    value = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(2**32)))
    print("seed", value)
    return value
