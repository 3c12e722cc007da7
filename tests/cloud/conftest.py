import pytest

from support.cloud_pair import Pair


@pytest.fixture
def pair(tmp_path, seed):
    """A box that is linked with a second Comanda, over a line that does not fail yet."""
    with Pair(tmp_path, seed) as pair:
        pair.link()
        yield pair


@pytest.fixture
def strict_pair(tmp_path, seed):
    """A box that is linked with the strict imitation of the cloud."""
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.link()
        yield pair
