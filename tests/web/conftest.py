import json
import pathlib
import subprocess

import pytest

from support.box import PATIENCE_S, ROOT, Box
from support.chromium import Chromium
from support.driven_page import Browser
from support.kitchen_wall import Wall


HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def node_modules():
    """The pinned tools of package.json."""
    made = subprocess.run([HERE / "tools"], capture_output=True, text=True, timeout=PATIENCE_S * 20)
    assert made.returncode == 0, made.stderr
    return pathlib.Path(made.stdout.strip()) / "node_modules"


@pytest.fixture(scope="session")
def demo():
    return json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]


@pytest.fixture(scope="session")
def browser_of(tmp_path_factory):
    """Makes a Chromium that trusts these authorities, and lets pages be heard that nobody has touched. Whoever made it closes it."""
    def make(authorities, *flags, program="chromium"):
        home = Chromium(tmp_path_factory.mktemp("chromium"), authorities)
        return Browser(home, "--autoplay-policy=no-user-gesture-required", *flags, program=program)
    return make


@pytest.fixture(scope="module")
def wall(demo, browser_of):
    """A box with the demo restaurant, and a browser for its displays."""
    box = Box()
    box.bring_in()
    box.start()
    with browser_of([box.cafile]) as browser:
        yield Wall(box, demo, browser)
    assert box.discard() == 0, "the server did not end cleanly"


@pytest.fixture
def screen(wall):
    """A display that is let in, on a tablet of its own, with all stations."""
    page = wall.display()
    yield page
    assert page.errors == []
    page.close()
    wall.clear()
