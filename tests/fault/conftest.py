import os
import random

import pytest

from support.box import Box


@pytest.fixture
def seed():
    """Repeat a failure with COMANDA_SEED=<the seed that it printed>."""
    value = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(2**32)))
    print("seed", value)
    return value


@pytest.fixture
def box():
    box = Box()
    box.bring_in("demo")
    yield box
    box.discard()
