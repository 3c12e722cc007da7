import contextlib

import pytest

from support.postgresql import USER, Database, Server


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    running.close()


@pytest.fixture(scope="module")
def connection(server, request):
    """To an empty database, with all rights."""
    database = Database(server.directory, request.module.__name__)
    with contextlib.closing(database.connect("public", user=USER)) as connection:
        yield connection
