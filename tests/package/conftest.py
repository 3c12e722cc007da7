import contextlib
import re
import subprocess

import pytest

from support.box import ROOT
from support.debian_root import ARCHITECTURE, SUITES, BootedRoot, CannotBoot, DebianRoot
from support.disk import LoopDisk


@pytest.fixture(scope="session")
def package():
    """The package for this machine, as scripts/package has left it."""
    found = list((ROOT / "build/package").glob(f"comanda_*_{ARCHITECTURE}.deb"))
    assert len(found) == 1, "first: scripts/package"
    return found[0]


@pytest.fixture(scope="session")
def tarball():
    return next((ROOT / "build/package").glob(f"comanda-*-{ARCHITECTURE}.tar.gz"))


@pytest.fixture(scope="session")
def repack(package, tmp_path_factory):
    """repack(version, {path: text}): the package with another version and with other files; without a file where its text is
    None."""

    def make(version, files=None):
        directory = tmp_path_factory.mktemp("repacked")
        tree = directory / "tree"
        subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
        for name, text in (files or {}).items():
            if text is None:
                (tree / name).unlink()
            else:
                (tree / name).write_text(text)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub("^Version: .*", f"Version: {version}", control.read_text(), flags=re.M))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", tree, directory], check=True, capture_output=True)
        return next(directory.glob("*.deb"))

    return make


@pytest.fixture(scope="session")
def later(repack):
    return repack("9.0")


@pytest.fixture(params=SUITES)
def bare(request):
    """A Debian without the package."""
    root = DebianRoot(request.param)
    yield root
    root.close()


@pytest.fixture
def box(bare, package):
    """A Debian with the package installed and serving."""
    status, said = bare.install(package)
    assert status == 0, said
    bare.calls()
    return bare


@pytest.fixture(params=SUITES)
def booted(request):
    """A Debian without the package, with its systemd as first process."""
    try:
        root = BootedRoot(request.param)
    except CannotBoot as reason:
        pytest.skip(str(reason))
    yield root
    root.close()


@pytest.fixture
def machine(booted, package):
    """A Debian with its systemd, with the package installed and serving the demo restaurant."""
    status, said = booted.install(package)
    assert status == 0, said
    booted.run("runuser -u comanda -- comanda import demo")
    return booted


@pytest.fixture
def disk(tmp_path):
    """A disk that is plugged in."""
    with contextlib.closing(LoopDisk(tmp_path / "disk", "ext4")) as made:
        yield made
