import signal

import pytest

from support.head_office import HeadOffice


@pytest.fixture(scope="module")
def running():
    office = HeadOffice()
    try:
        yield office.start()
    finally:
        office.close()


@pytest.fixture
def office(running):
    """With all of its machines well, before and after."""
    running.make_whole()
    yield running
    for head in running.heads:
        assert set(head.ends) <= {-signal.SIGKILL, 70}, (head.ends, head.program.text()[-3000:])


@pytest.fixture
def told(capsys):
    """Shows what a test measured, also where it passes."""
    yield
    with capsys.disabled():
        print("\n" + capsys.readouterr().out, end="")
