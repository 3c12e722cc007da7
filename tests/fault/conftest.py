import pytest

from support.box import Box


@pytest.fixture
def box():
    box = Box()
    box.bring_in("demo")
    yield box
    box.discard()
