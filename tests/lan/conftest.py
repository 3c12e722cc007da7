import pytest

from support.lan import SERVICE_FILE, Lan, LanBox


@pytest.fixture
def lan():
    made = Lan()
    yield made
    made.close()


@pytest.fixture
def box(lan):
    """The box on a machine with the host name Caja-1, which avahi announces."""
    machine = lan.machine("Caja-1")
    machine.start_avahi(SERVICE_FILE)
    box = LanBox(machine)
    box.bring_in()
    box.start()
    yield box
    box.discard()


@pytest.fixture
def till(lan, box):
    machine = lan.machine("till")
    machine.start_avahi()
    return machine
