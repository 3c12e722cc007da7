import contextlib
import json
import pathlib

import pytest

from support.box import Box
from support.orders import Restaurant

# A second restaurant with its own keys: nothing of the demo may ever be seen with them.
OTHER = pathlib.Path(__file__).parent.parent / "support" / "other_restaurant.json"


def pytest_addoption(parser):
    parser.addoption("--record-answers", action="store_true",
                     help="write tests/golden/answers as this program answers, instead of comparing with it")


@pytest.fixture(scope="session")
def box():
    box = Box()
    box.bring_in("demo")
    box.bring_in(OTHER)
    box.start()
    yield box
    assert box.discard() == 0, "the server did not end cleanly"


@pytest.fixture(scope="session")
def demo(box):
    """The demo restaurant as the import file has it."""
    return json.loads((pathlib.Path(__file__).parent.parent.parent / "src/app/demo.json").read_text())["companies"][0]


@pytest.fixture(scope="session")
def other_company():
    return json.loads(OTHER.read_text())["companies"][0]


@pytest.fixture(scope="session")
def house(box, demo):
    """What to pick from the demo restaurant."""
    return Restaurant(demo, box)


@pytest.fixture(scope="session")
def other_house(box, other_company):
    return Restaurant(other_company, box)


@pytest.fixture(scope="session")
def key(box, demo):
    return box.make_key(company=demo["id"])["key"]


@pytest.fixture(scope="session")
def other_key(box, other_company):
    return box.make_key(company=other_company["id"])["key"]


@pytest.fixture
def api(box, key):
    """A client of the demo restaurant with every scope."""
    with contextlib.closing(box.client(key)) as client:
        yield client


@pytest.fixture
def other(box, other_key):
    """A client of the second restaurant with every scope."""
    with contextlib.closing(box.client(other_key)) as client:
        yield client


@pytest.fixture
def kuwait(box):
    """A client of a restaurant whose currency has three decimals."""
    company = json.loads(OTHER.read_text())["companies"][1]
    assert company["currency"] == "KWD"
    with contextlib.closing(box.client(box.make_key(company=company["id"])["key"])) as client:
        yield client
