import contextlib
import os

import pytest

from support import postgresql
from support.box import Box
from support.postgresql_proxy import Proxy


@pytest.fixture(scope="session")
def server():
    running = postgresql.Server()
    os.environ[postgresql.ADDRESS] = running.directory
    yield running
    running.close()


@pytest.fixture
def head(server):
    """A comanda-head with the demo restaurant, through a proxy that lets all pass."""
    proxy = Proxy(server.directory)
    box = Box(engine="postgresql")
    box.settings_file.write_text(box.settings_file.read_text().replace(server.directory, proxy.directory))
    box.proxy = proxy
    box.command("import", "demo", "--data", str(box.data))
    box.start()
    yield box
    proxy.go_on()
    box.discard()
    proxy.close()


@pytest.fixture
def second(server, head):
    """Another process for the same database, as on another machine: with its own data directory."""
    with contextlib.ExitStack() as stack:
        box = Box(engine="postgresql")
        stack.callback(box.discard)
        box.settings_file.write_text(head.databases.settings)
        yield box
