"""What continuous integration remembers from run to run: when each group was last green, what is owed, and which tests
were unstable. One JSON file in the cache, outside the tree; without it, or with one that cannot be read, nothing is known."""

import contextlib
import datetime
import fcntl
import json
import os
import pathlib
import subprocess

from guards import Past

FLAKY_RUNS = 10  # a test that is unstable twice within so many runs fails the run
COMMITS_WITHOUT_RECORD = 50


def cache_directory():
    """As in third_party/README.md."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("COMANDA_CACHE") or pathlib.Path(home) / "comanda")


class Tree:
    """The git checkout whose tests run."""

    def __init__(self, root):
        self.root = root

    def git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    def head(self):
        return (self.git("rev-parse", "HEAD") or "").strip()

    def is_clean(self):
        return self.git("status", "--porcelain") == ""

    def has(self, commit):
        return self.git("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def changed_since(self, commit):
        """Paths that differ from the commit, those that are not committed included."""
        differing = self.git("diff", "--name-only", "--no-renames", commit) or ""
        untracked = self.git("ls-files", "--others", "--exclude-standard") or ""
        return differing.splitlines() + untracked.splitlines()

    def base(self):
        """What a group that was never green is compared with: where the commits since origin/main begin, else the last 50
        commits."""
        origin = (self.git("merge-base", "HEAD", "origin/main") or "").strip()
        if origin and origin != self.head():
            return origin
        commits = (self.git("rev-list", "--first-parent", f"--max-count={COMMITS_WITHOUT_RECORD + 1}", "HEAD") or "").split()
        return commits[-1]


class Record:
    """The record in the file at `path`. Each change is read, made and written under a lock, since another run may write too."""

    def __init__(self, path, tree):
        self.path, self.tree = path, tree
        self._read()

    def _read(self):
        try:
            data = json.loads(self.path.read_text())
            self.run, self.groups, self.flaky = int(data["run"]), dict(data["groups"]), list(data["flaky"])
        except (OSError, ValueError, KeyError, TypeError):
            self.run, self.groups, self.flaky = 0, {}, []

    @contextlib.contextmanager
    def _change(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._read()
            yield
            unfinished = self.path.with_suffix(".unfinished")
            unfinished.write_text(json.dumps({"run": self.run, "groups": self.groups, "flaky": self.flaky}, indent=1) + "\n")
            unfinished.replace(self.path)

    def begin_run(self):
        """Age is counted in runs of continuous integration."""
        with self._change():
            self.run += 1

    def green_at(self, group):
        """The commit, or None where none is recorded or this tree does not have it."""
        commit = self.groups.get(group, {}).get("commit")
        return commit if commit and self.tree.has(commit) else None

    def changed(self, groups):
        """For each group, the paths that differ from the commit at which it was last green."""
        base = None
        differing = {}
        changed = {}
        for group in groups:
            commit = self.green_at(group)
            if commit is None:
                commit = base = base or self.tree.base()
            if commit not in differing:
                differing[commit] = self.tree.changed_since(commit)
            changed[group] = differing[commit]
        return changed

    def past(self, group):
        row = self.groups.get(group, {})
        return Past(self.run - row["run"] if self.green_at(group) else None, bool(row.get("owed")))

    def part(self, group, parts):
        """The part of the group that is next, from 0."""
        return self.groups.get(group, {}).get("next_part", 0) % parts

    def set_green(self, group, part=0, parts=1, changed=False):
        """The group, or that part of it, has passed on this tree. Where what it guards has `changed`, the other parts are
        owed. Not recorded where the tree has changes that are not committed."""
        if not self.tree.is_clean():
            return
        with self._change():
            row = self.groups.setdefault(group, {})
            left = parts - 1 if changed or parts == 1 else max(0, row.get("parts_left", 0) - 1)
            row.update(commit=self.tree.head(), run=self.run, date=today(), owed=left > 0)
            row["parts_left"] = left
            if parts > 1:
                row["next_part"] = part + 1

    def set_owed(self, group):
        with self._change():
            self.groups.setdefault(group, {})["owed"] = True

    def was_flaky(self, test):
        """Whether the test was unstable within the ten runs before this one."""
        return any(row["test"] == test and self.run - FLAKY_RUNS <= row["run"] < self.run for row in self.flaky)

    def add_flaky(self, test, message):
        with self._change():
            self.flaky.append({"test": test, "run": self.run, "date": today(), "message": message})


def today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()
