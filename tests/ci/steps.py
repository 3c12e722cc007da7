"""The steps of which a group of tests consists, and how each says which of its tests failed and runs these again."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

MESSAGE_LINES = 4


@dataclasses.dataclass(frozen=True)
class Failure:
    test: str
    message: str  # its first lines


@dataclasses.dataclass
class Place:
    """Where the steps of one group run and write."""
    root: object  # of the repository
    directory: object  # of the group's files below build/test
    log: object  # a file that is open for writing
    environment: dict
    cpu_s: float = 0

    def call(self, words, **environment):
        """Runs a command; its exit status. What it prints goes to the group's log."""
        process = subprocess.Popen(words, cwd=self.root, env={**os.environ, **self.environment, **environment},
                                   stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s += used.ru_utime + used.ru_stime
        return process.returncode


@dataclasses.dataclass(frozen=True)
class Command:
    """Something that passes or not, and is not run again."""
    words: list
    environment: dict = dataclasses.field(default_factory=dict)
    can_run_again = False

    def run(self, place, again=False):
        status = place.call(self.words, **self.environment)
        return [] if status == 0 else [Failure(" ".join(map(str, self.words)), f"exit status {status}")]


def build(kind, targets="", **environment):
    return Command(["scripts/build", kind], {"COMANDA_TARGETS": targets, **environment} if targets else environment)


@dataclasses.dataclass(frozen=True)
class Pytest:
    paths: list
    processes: int = 1
    by_file: bool = False  # the tests of a file share a process
    environment: dict = dataclasses.field(default_factory=dict)
    can_run_again = True

    def run(self, place, again=False):
        """All of its tests, or those that failed, one after another. Debian's own Python: its pytest is the one that
        scripts/bootstrap installed."""
        name = self.paths[0].replace("/", "_")
        report, cache = place.directory / f"{name}.xml", place.directory / f"{name}.cache"
        if not again:
            shutil.rmtree(cache, ignore_errors=True)
        report.unlink(missing_ok=True)
        words = ["/usr/bin/python3", "-m", "pytest", "-q", "--durations=8", "-o", f"cache_dir={cache}",
                 f"--junitxml={report}"]
        if again:
            words.append("--last-failed")
        elif self.processes > 1:
            words += ["-n", str(self.processes)] + (["--dist", "loadfile"] if self.by_file else [])
        status = place.call([*words, *self.paths], **self.environment)
        if status == 0:
            return []
        failures = [Failure(f"{case.get('classname')}::{case.get('name')}", first_lines(found.get("message"), found.text))
                    for case in xml.parse(report).iter("testcase") for found in case if found.tag in ("failure", "error")
                    ] if status == 1 and report.exists() else []
        return failures or [Failure(f"pytest {' '.join(self.paths)}", f"exit status {status}")]


@dataclasses.dataclass(frozen=True)
class Ctest:
    kind: str  # the build
    only: str = ""  # a regular expression of the programs' names
    environment: dict = dataclasses.field(default_factory=dict)
    can_run_again = True

    def run(self, place, again=False):
        report, kept = place.directory / "ctest.xml", place.directory / "ctest.failed.json"
        words = ["ctest", "--no-tests=error", "--test-dir", f"build/{self.kind}", "--output-on-failure",
                 "--output-junit", str(report.resolve())]
        environment = dict(self.environment)
        if again:
            programs, tests = json.loads(kept.read_text())
            words += ["-R", f"^({'|'.join(programs)})$"]
            if tests:
                environment["GTEST_FILTER"] = ":".join(tests)
        else:
            words += ["-j", "3"] + (["-R", self.only] if self.only else [])
        report.unlink(missing_ok=True)
        status = place.call(words, **environment)
        if status == 0:
            return []
        failures, programs = [], []
        for case in xml.parse(report).iter("testcase") if report.exists() else []:
            if case.get("status") == "fail":
                programs.append(case.get("name"))
                failures += failures_of_program(case.get("name"), case.findtext("system-out") or "")
        if not failures:
            return [Failure(f"ctest build/{self.kind}", f"exit status {status}")]
        tests = [failure.test.partition(": ")[2] for failure in failures]
        kept.write_text(json.dumps([programs, tests if all(tests) else []]))
        return failures


def failures_of_program(program, output):
    """The tests of a GoogleTest program that failed; the program itself where it did not come to its end."""
    tests = sorted(set(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", output, re.M)))
    if not tests or " ran. (" not in output:
        return [Failure(program, first_lines(None, output[-2000:]))]
    return [Failure(f"{program}: {test}", message_of(test, output)) for test in tests]


def message_of(test, output):
    block = re.search(rf"^\[ RUN      \] {re.escape(test)}\n(.*?)^\[  FAILED  \]", output, re.M | re.S)
    return first_lines(None, block.group(1) if block else "")


def first_lines(message, text):
    lines = [line for line in ((message or "") + "\n" + (text or "")).splitlines() if line.strip()]
    return "\n".join(line[:300] for line in lines[:MESSAGE_LINES])
