import contextlib
import os

import pytest

from support import postgresql
from support.box import Box, free_port
from support.head_box import is_ready
from support.postgresql_proxy import Proxy
from support.waiting import wait_until


@pytest.fixture
def head():
    """A comanda-head with the demo restaurant, through a proxy that lets all pass."""
    proxy = Proxy(os.environ[postgresql.ADDRESS])
    box = Box(engine="postgresql")
    box.sandbox_port = free_port()
    box.options += ["--sandbox-listen", f"127.0.0.1:{box.sandbox_port}"]
    box.settings_file.write_text(box.settings_file.read_text().replace(os.environ[postgresql.ADDRESS], proxy.directory))
    box.proxy = proxy
    box.command("import", "demo", "--data", str(box.data))
    box.start()
    # It is a standby until the server has freed the lock of the command before.
    wait_until(lambda: is_ready(box), box.log_text)
    yield box
    proxy.go_on()
    box.discard()
    proxy.close()


@pytest.fixture
def second(head):
    """Another process for the same database, as on another machine: with its own data directory."""
    with contextlib.ExitStack() as stack:
        box = Box(engine="postgresql")
        stack.callback(box.discard)
        box.settings_file.write_text(head.databases.settings)
        yield box


@pytest.fixture
def api(head):
    client = head.client(head.make_key()["key"])
    yield client
    client.close()
