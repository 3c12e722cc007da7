"""A Debian archive of source packages on 127.0.0.1, and a copy of third_party/ with a lock of its own that knows no other."""

import contextlib
import dataclasses
import datetime
import email.utils
import functools
import hashlib
import http.server
import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import threading
import urllib.parse

from support.box import PATIENCE_S, ROOT

MAIN, SECURITY = "debian", "debian-security"
# The same for all entries of a process, so that a revision made twice has the same bytes.
NOW = datetime.datetime.now(datetime.timezone.utc)
POOLS = {MAIN: "pool/main", SECURITY: "pool/updates/main"}
SUITES = {"trixie": MAIN, "sid": MAIN, "trixie-updates": MAIN, "trixie-security": SECURITY}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def tar(name, content):
    """A tarball of one file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as file:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        file.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def entry(package, version, text="* Another change.", days=100):
    """An entry of a changelog, made so many days ago."""
    at = email.utils.format_datetime(NOW - datetime.timedelta(days=days, minutes=5))
    return f"{package} ({version}) trixie; urgency=medium\n\n  {text}\n\n -- A. Person <a@example.org>  {at}\n\n"


@dataclasses.dataclass
class Revision:
    """A revision of a source package: the content of its files by name."""

    package: str
    version: str
    files: dict

    def stanza(self, pool):
        lines = [f"Package: {self.package}", f"Binary: {self.package}", f"Version: {self.version}",
                 "Maintainer: A. Person <a@example.org>", "Architecture: any", "Format: 3.0 (quilt)",
                 f"Directory: {pool}/{self.package[0]}/{self.package}", "Checksums-Sha256:"]
        return "\n".join([*lines, *(f" {sha256(c)} {len(c)} {name}" for name, c in self.files.items())]) + "\n\n"

    def sum_lines(self):
        """As the scripts print them: the tarballs alone."""
        return [(name, sha256(c)) for name, c in self.files.items() if ".tar." in name]


def revision(package, version, changelog):
    upstream = version.rpartition("-")[0]
    stem = f"{package}_{version}"
    return Revision(package, version, {
        f"{stem}.dsc": f"Source: {package}\nVersion: {version}\n".encode(),
        f"{package}_{upstream}.orig.tar.xz": tar(f"{package}/code.c", upstream.encode()),
        f"{stem}.debian.tar.xz": tar("debian/changelog", changelog.encode())})


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *words, archive, **more):
        self.archive = archive
        super().__init__(*words, directory=archive.directory, **more)

    def do_GET(self):
        name = pathlib.PurePath(urllib.parse.unquote(self.path)).name
        self.archive.requests.append(name)
        if name in self.archive.withheld:
            self.send_error(404)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


class Archive:
    """`offer` puts revisions into the index of a suite and their files into the pool; `withheld` are names of files that the
    index has and the pool does not; `requests` the names that were asked for."""

    def __init__(self, place):
        self.place, self.directory = place, str(place / "archive")
        self.withheld, self.requests, self.indexes = set(), [], {suite: [] for suite in SUITES}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, archive=self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        for suite in SUITES:
            self.offer(suite, revision("filler", "1-1", entry("filler", "1-1")))

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def put_into_pool(self, root, added):
        pool = pathlib.Path(self.directory, root, POOLS[root], added.package[0], added.package)
        pool.mkdir(parents=True, exist_ok=True)
        for name, content in added.files.items():
            (pool / name).write_bytes(content)

    def offer(self, suite, added):
        self.put_into_pool(SUITES[suite], added)
        self.indexes[suite].append(added)
        self.write_index(suite)

    def forget(self, suite, package):
        """The index no longer has the package; the pool does."""
        self.indexes[suite] = [r for r in self.indexes[suite] if r.package != package]
        self.write_index(suite)

    def write_index(self, suite):
        content = "".join(r.stanza(POOLS[SUITES[suite]]) for r in self.indexes[suite]).encode()
        place = pathlib.Path(self.directory, SUITES[suite], "dists", suite)
        (place / "main/source").mkdir(parents=True, exist_ok=True)
        (place / "main/source/Sources").write_bytes(content)
        (place / "Release").write_text(
            f"Origin: Debian\nSuite: {suite}\nCodename: {suite}\nComponents: main\nArchitectures: amd64\n"
            f"Date: {email.utils.format_datetime(NOW)}\n"
            f"SHA256:\n {sha256(content)} {len(content)} main/source/Sources\n")

    def drop(self, suite):
        """The archive no longer has the suite."""
        shutil.rmtree(pathlib.Path(self.directory, SUITES[suite], "dists", suite))


class Tree:
    """third_party/ with the real scripts but `build`, which writes its arguments to `built` instead."""

    def __init__(self, place, archive):
        self.place, self.directory, self.built = place, place / "third_party", place / "built"
        shutil.copytree(ROOT / "third_party", self.directory)
        for recipe in [p for p in self.directory.iterdir() if p.is_dir()]:
            shutil.rmtree(recipe)
        self.lock = self.directory / "lock"
        self.lock.write_text("")
        (self.directory / "build").write_text(f'#!/bin/sh\necho "$@" >>{self.built}\n')
        (place / "apt/sources.list.d").mkdir(parents=True)
        (place / "apt/sources.list.d/test.sources").write_text("".join(
            f"Types: deb\nURIs: {archive.url}/{root}\nSuites: {suite}\nComponents: main\n\n"
            for root, suite in ((MAIN, "trixie"), (SECURITY, "trixie-security"))))
        # The archive is not signed: what vouches for it in these tests is that it is theirs.
        (place / "apt.conf").write_text('Acquire::AllowInsecureRepositories "true";\nAPT::Get::AllowUnauthenticated "true";\n'
                                        'Acquire::http::Proxy "false";\nAcquire::Retries::Delay "false";\n')
        self.environment = {**os.environ, "COMANDA_CACHE": str(place / "cache"), "COMANDA_APT_LISTS": str(place / "apt"),
                            "APT_CONFIG": str(place / "apt.conf"), "TMPDIR": str(place)}

    def record(self, recorded, minimum=None, below="2~"):
        """A library of the package's name."""
        row = ["package", recorded.package, recorded.package, recorded.version, minimum or recorded.version, below]
        files = [["file", recorded.package, name, sum_] for name, sum_ in recorded.sum_lines()]
        with open(self.lock, "a") as lock:
            lock.writelines("\t".join(words) + "\n" for words in [row, *files])
        recipe = self.directory / recorded.package
        recipe.mkdir(exist_ok=True)
        (recipe / "build.sh").write_text(f"# {recorded.package}: a library.\n\nlicense COPYING\n")

    def rows(self, kind, package):
        rows = [line.split("\t") for line in self.lock.read_text().splitlines()]
        return [tuple(row[2:]) for row in rows if row[:2] == [kind, package]]

    def run(self, *words):
        """A script of the tree, or with sh what uses its functions."""
        return subprocess.run(words, cwd=self.directory, env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE_S * 4)

    def outdated(self, *words):
        return self.run("./outdated", *words)

    def update(self, *words):
        return self.run("./update", *words)

    def resolve(self, package):
        """What a build does to obtain the sources of one library: its version and what was said."""
        done = self.run("sh", "-euc", 'here=$PWD; . ./lib.sh; . ./fetch.sh; find_cache; builds=$cache/none; '
                        f'work=$(mktemp -d); resolve {package}; obtain; printf %s "$version"')
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def targets_built(self):
        with contextlib.suppress(FileNotFoundError):
            return self.built.read_text().split()
        return []


def without_reading(said):
    """What was said on stderr but for the line of every run."""
    return re.sub(r"^third_party: reading the archive's index\n", "", said, flags=re.M)
