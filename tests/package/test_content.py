"""What is in the packages, and that the same commit makes the same bytes."""

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support import documents
from support.box import BINARY, LONG, ROOT
from support.debian_root import ARCHITECTURE, SUITES, DebianRoot

BYTES_MAX = 3_300_000
PACKAGES = ROOT / "build/package"
# The documents for users, below /usr/share/doc/comanda.
SHIPPED = ("README.md", "systemd/README.md", "web/README.md")


def output(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


@pytest.fixture(scope="module")
def tree(package, tmp_path_factory):
    """The package's files, unpacked."""
    directory = tmp_path_factory.mktemp("package") / "tree"
    subprocess.run(["dpkg-deb", "-R", package, directory], check=True)
    return directory


@pytest.fixture(scope="module")
def page(tree):
    return gzip.decompress((tree / "usr/share/man/man1/comanda.1.gz").read_bytes()).decode()


def test_each_package_is_small():
    sizes = {file.name: file.stat().st_size for file in PACKAGES.glob("*.deb")}
    assert sizes and all(size <= BYTES_MAX for size in sizes.values()), sizes


def test_the_checksums_are_those_of_all_files():
    listed = dict(reversed(line.split("  ")) for line in (PACKAGES / "SHA256SUMS").read_text().splitlines())
    files = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in PACKAGES.iterdir() if f.name != "SHA256SUMS"}
    assert listed == files


def test_the_fields_say_what_it_needs(package):
    fields = dict(line.split(": ", 1) for line in output("dpkg-deb", "-f", package).splitlines() if not line.startswith(" "))
    assert fields["Depends"] == "ca-certificates, systemd (>= 252), tzdata"
    assert fields["Recommends"] == "avahi-daemon"
    assert fields["Version"] in output(BINARY, "version").splitlines()[0].split()


def test_the_files_are_those_that_are_meant(package):
    listing = output("dpkg-deb", "-c", package)
    names = {line.split()[5].lstrip(".") for line in listing.splitlines() if not line.startswith("d")}
    units = {f"/usr/lib/systemd/system/{f.name}" for f in (ROOT / "systemd").iterdir()
             if f.suffix in (".service", ".socket", ".timer") and f.stem != "comanda-head"}
    of_this = {f"/usr/share/doc/comanda/{name}" for name in (*SHIPPED, "IMPORT.md", "copyright", "changelog.gz")}
    examples = {f"/usr/share/doc/comanda/examples/{name}" for name in (
        "kitchen_display/index.html", "till/till.py", "android_till/OfflineTill.kt")}
    boards = {f"/usr/share/comanda/board/{path.parent.name}/{name}" for path in (ROOT / "board").glob("*/setup")
              for name in ("setup", "README.md")} | {"/usr/share/comanda/board/setup.sh"}
    assert names == units | of_this | examples | boards | {
        "/usr/bin/comanda", "/usr/lib/sysusers.d/comanda.conf", "/etc/avahi/services/comanda.service",
        "/usr/share/comanda/avahi.service",
        "/usr/share/man/man1/comanda.1.gz", "/usr/share/lintian/overrides/comanda"}
    assert {line.split()[1] for line in listing.splitlines()} == {"root/root"}


def test_the_documents_name_no_file_that_the_package_lacks(tree):
    directory = tree / "usr/share/doc/comanda"
    text = "".join((directory / name).read_text() for name in SHIPPED)
    named = set(re.findall(r"`([^`\s]+)`", text))
    assert {"/usr/share/doc/comanda/IMPORT.md", "/usr/share/comanda/board/", "till/till.py"} <= named
    places = [tree, directory, directory / "examples"]
    sources = output("git", "-C", ROOT, "ls-files").splitlines()
    for name in named:
        is_source = any(file == name or file.startswith(name.rstrip("/") + "/") for file in sources)
        if is_source or name.startswith("/usr/share/"):
            assert any((place / name.lstrip("/")).exists() for place in places), name
    assert "scripts/" not in text
    setup = tree / "usr/share/comanda/board/n100/setup"
    assert "setup [--undo]" in subprocess.run([setup, "--help"], capture_output=True, text=True, check=False).stderr


def test_links_of_the_documents_lead_to_one_another(tree):
    for name in SHIPPED:
        assert documents.broken_links(tree / "usr/share/doc/comanda" / name) == []


@pytest.mark.parametrize("script", ["preinst", "postinst", "prerm", "postrm"])
def test_each_maintainer_script_is_whole(tree, script):
    text = (tree / "DEBIAN" / script).read_text()
    assert not re.search(r"@[A-Z_]+@|#CHECKS#", text)
    output("sh", "-n", tree / "DEBIAN" / script)


def test_the_schema_in_preinst_is_the_newest_migrations(tree):
    newest = max(int(f.name[:4]) for f in (ROOT / "src/app/migrations").glob("*.sql"))
    assert f"refuse_later_databases {newest} ;;" in (tree / "DEBIAN/preinst").read_text()


LINTIAN = "lintian --allow-root --fail-on error,warning"


def test_every_override_of_lintian_is_explained(tree):
    explained = False
    for line in (tree / "usr/share/lintian/overrides/comanda").read_text().splitlines():
        explained = explained or line.startswith("#")
        assert explained


def lintian_of(suite, package):
    """(status, output) of that Debian's lintian: this machine's own where it is that Debian."""
    if f"VERSION_CODENAME={suite}\n" in pathlib.Path("/etc/os-release").read_text():
        done = subprocess.run([*LINTIAN.split(), package], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
    # debootstrap itself does not find the second, a virtual package that the first needs.
    root = DebianRoot(suite, "lintian,perl-openssl-defaults,systemd")
    try:
        root.copy(package, f"/srv/{package.name}")
        return root.try_run(f"{LINTIAN} /srv/{package.name}")
    finally:
        root.close()


@pytest.mark.parametrize("suite", SUITES)
def test_the_lintian_of_each_debian_finds_nothing(package, suite):
    status, said = lintian_of(suite, package)
    assert status == 0, said


def test_no_unit_reaches_much_of_the_machine(tree):
    """In tenths of systemd's scale of 10. A socket or timer starts no process of its own."""
    units = sorted((tree / "usr/lib/systemd/system").iterdir())
    assert units
    for unit in units:
        if unit.suffix == ".service":
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=11", "--no-pager", unit],
                                  capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-200:]
        else:
            assert not re.search("^Exec", unit.read_text(), re.M), unit.name


def test_the_units_are_sound(tree, tmp_path):
    """As systemd reads them, with a program that is there."""
    for unit in (tree / "usr/lib/systemd/system").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/bin/comanda", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", *tmp_path.iterdir()],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def commands():
    return re.findall(r"^  ([a-z]+)  ", output(BINARY, "--help"), re.M)


@pytest.mark.parametrize("command", commands())
def test_the_man_page_says_what_help_says(tree, tmp_path_factory, command):
    file = tree / "usr/share/man/man1/comanda.1.gz"
    shown = output("man", "--no-hyphenation", "--no-justification", "-l", file,
                   env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
    section = re.split(r"^   comanda ", shown, flags=re.M)
    own = next(text for text in section if text.startswith(command + "\n"))
    assert output(BINARY, command, "--help").split() == own.split()[1:][:len(output(BINARY, command, "--help").split())]


def test_the_man_page_is_sound(tree):
    done = subprocess.run(["man", "--warnings", "-l", tree / "usr/share/man/man1/comanda.1.gz"], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")


def test_the_sbom_names_everything_inside(package):
    document = json.loads(next(PACKAGES.glob(f"*-{ARCHITECTURE}.cdx.json")).read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    components = {c["name"]: c for c in document["components"]}
    # The same names and versions as `comanda version` shows. It calls curl libcurl, and Debian adds suffixes to versions.
    says = dict(line.split() for line in output(BINARY, "version").splitlines())
    says["curl"] = says.pop("libcurl")
    assert document["metadata"]["component"]["version"] == says.pop("comanda")
    assert set(components) == set(says) | {"glibc", "libstdc++", "libgcc"}
    for name, version in says.items():
        assert components[name]["version"].startswith(version), name
    assert document["metadata"]["component"]["hashes"][0]["content"] == hashlib.sha256(BINARY.read_bytes()).hexdigest()
    references = [c["bom-ref"] for c in document["components"]]
    assert len(set(references)) == len(references) and document["dependencies"][0]["dependsOn"] == references
    assert all(c["licenses"] and c["purl"].startswith("pkg:") for c in document["components"])


def test_the_copyright_file_has_every_library(tree):
    text = (tree / "usr/share/doc/comanda/copyright").read_text()
    for name in (*[line.split()[0] for line in output(BINARY, "version").splitlines()[1:]], "glibc", "libstdc++"):
        assert name.removeprefix("lib" if name == "libcurl" else "") in text, name


def test_the_same_commit_makes_the_same_bytes(tmp_path):
    """From the program as it is built, or compiled anew in a clone elsewhere."""
    tree = ROOT
    environment = {k: v for k, v in os.environ.items() if k != "COMANDA_CMAKE_OPTIONS"} | {"COMANDA_PACKAGES": str(tmp_path / "again")}
    if LONG:
        tree = tmp_path / "elsewhere"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, tree], check=True)
        # As it stands, changes that are not committed included.
        for name in filter(None, output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
        environment["CCACHE_DISABLE"] = "yes"
    subprocess.run([tree / "scripts/package", ARCHITECTURE], check=True, env=environment, capture_output=True)
    here = (PACKAGES / "SHA256SUMS").read_text().splitlines()
    again = (tmp_path / "again/SHA256SUMS").read_text().splitlines()
    assert again == [line for line in here if ARCHITECTURE in line]
