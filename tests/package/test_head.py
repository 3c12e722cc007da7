"""The package of comanda-head: what is in it, and its life in a bare Debian without a database."""

import gzip
import os
import re
import subprocess

import pytest

from support import documents
from support.box import ROOT
from support.debian_root import ARCHITECTURE, PACKAGES, SUITES, DebianRoot

LINTIAN = "lintian --allow-root --fail-on error,warning"
DOCUMENTS = "usr/share/doc/comanda-head"


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def head():
    found = list((ROOT / "build/head-package").glob(f"comanda-head_*_{ARCHITECTURE}.deb"))
    assert len(found) == 1, "first: scripts/package --head"
    return found[0]


@pytest.fixture(scope="module")
def tree(head, tmp_path_factory):
    directory = tmp_path_factory.mktemp("head") / "tree"
    subprocess.run(["dpkg-deb", "-R", head, directory], check=True)
    return directory


def test_the_fields_say_what_it_needs(head):
    fields = dict(line.split(": ", 1) for line in output("dpkg-deb", "-f", head).splitlines() if not line.startswith(" "))
    assert re.fullmatch(r"ca-certificates, libc6 \(>= 2\.\d+\), libpq5 \(>= 15\), systemd \(>= 252\), tzdata", fields["Depends"])


def test_the_program_needs_no_other_library(tree):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", tree / "usr/bin/comanda-head")))
    assert {name for name in needed if not name.startswith("ld-linux")} == {"libc.so.6", "libpq.so.5"}


def test_the_files_are_those_that_are_meant(head):
    listing = output("dpkg-deb", "-c", head)
    names = {line.split()[5].removeprefix("./") for line in listing.splitlines() if not line.startswith("d")}
    shipped = {f"{DOCUMENTS}/{path.name}" for path in (ROOT / "systemd/head-office").iterdir()}
    assert names == shipped | {f"{DOCUMENTS}/{name}" for name in ("web/README.md", "IMPORT.md", "copyright", "changelog.gz")} | {
        "usr/bin/comanda-head", "usr/lib/systemd/system/comanda-head.service", "usr/lib/sysusers.d/comanda-head.conf",
        "usr/share/man/man1/comanda-head.1.gz", "usr/share/lintian/overrides/comanda-head"}
    assert {line.split()[1] for line in listing.splitlines()} == {"root/root"}


@pytest.mark.parametrize("name", ["README.md", "web/README.md"])
def test_links_of_the_documents_lead_to_one_another(tree, name):
    assert documents.broken_links(tree / DOCUMENTS / name) == []


@pytest.mark.parametrize("script", ["postinst", "prerm", "postrm"])
def test_each_maintainer_script_is_whole(tree, script):
    assert not re.search(r"@[A-Z_]+@", (tree / "DEBIAN" / script).read_text())
    output("sh", "-n", tree / "DEBIAN" / script)


def test_the_unit_is_sound(tree, tmp_path):
    unit = tmp_path / "comanda-head.service"
    unit.write_text((tree / "usr/lib/systemd/system/comanda-head.service").read_text().replace("/usr/bin/comanda-head", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", unit], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_man_page_is_sound(tree):
    page = tree / "usr/share/man/man1/comanda-head.1.gz"
    done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    assert b".SS comanda\\-head serve" in gzip.decompress(page.read_bytes())


def test_lintian_finds_nothing(head):
    done = subprocess.run([*LINTIAN.split(), head], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("suite", SUITES)
def test_it_is_installed_removed_and_purged(suite, head):
    root = DebianRoot(suite, PACKAGES + ",libpq5")
    try:
        status, said = root.install(head)
        assert status == 0, said
        assert "Comanda" in root.run("comanda-head --help")
        assert root.run("stat -c '%U %a' /var/lib/comanda-head").split() == ["comanda-head", "700"]
        assert "name the server" in root.try_run("comanda-head config check")[1]
        assert root.try_run("apt-get -y remove comanda-head")[0] == 0
        status, said = root.try_run("apt-get -y purge comanda-head")
        assert status == 0 and "/var/lib/comanda-head stays" in said, said
    finally:
        root.close()
