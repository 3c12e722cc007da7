#!/usr/bin/python3
"""The driver behind scripts/test, which says what the words of its command line mean."""

import argparse
import collections
import dataclasses
import os
import pathlib
import random
import re
import sys
import threading
import time

import groups
import guards
from record import Record, Tree, cache_directory
from steps import Failure, Place

RUNS_AGAIN_MAX = 2
# More failures than that in a group are no unstable test.
UNSTABLE_MAX = 5
# With one of these a group tests another program, or a part of what it is for.
OVERRIDES = {"COMANDA_BINARY", "COMANDA_HEAD_BINARY", "COMANDA_ENGINE", "COMANDA_RUNNER", "COMANDA_PART", "COMANDA_SUITES", "COMANDA_HISTORIES"}
SANITIZER_REPORT = re.compile(rb"(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer: |: runtime error: ")
FAILURES = re.compile(r"^(?:FAILED|ERROR)|\[  FAILED  \]|Failure$|: error: |Sanitizer: ")


@dataclasses.dataclass
class Result:
    choice: guards.Choice
    options: groups.Options
    place: Place = None
    steps: list = dataclasses.field(default_factory=list)
    failures: dict = dataclasses.field(default_factory=dict)  # by the number of the step
    seconds: float = 0

    @property
    def group(self):
        return self.choice.group

    @property
    def has_passed(self):
        return not any(self.failures.values())


class Run:
    def __init__(self, root, functions, rows, record, output=print, again=False):
        """`functions` has the groups' functions by name, `rows` their rows of tests/GUARDS; with `again`, a test that failed
        runs again."""
        self.root, self.functions, self.record, self.output, self.again = root, functions, record, output, again
        self.guards = {row.group: row for row in rows}
        self.begin = time.monotonic()
        self.directory = root / "build/test"
        self.results, self.left_out, self.flaky = [], [], []
        self.ahead = None

    def elapsed_s(self):
        return time.monotonic() - self.begin

    def compile_ahead(self, choices):
        """Compiles for later groups at low priority while earlier groups run, many of which mostly wait."""
        builds = {tuple(groups.AHEAD[choice.group].words): groups.AHEAD[choice.group]
                  for choice in choices if choice.group in groups.AHEAD}
        if len(choices) < 2 or not builds:
            return

        def compile_all():
            with open(self.directory / "ahead.log", "wb") as log:
                place = Place(self.root, self.directory, log, {})
                for step in builds.values():
                    place.call(["nice", "-n", "19", *step.words], **step.environment)

        # Libraries are built one kind after the other, and all groups wait for those of the release.
        with open(self.directory / "libraries.log", "wb") as log:
            Place(self.root, self.directory, log, {}).call(["third_party/build"])

        self.ahead = threading.Thread(target=compile_all)
        self.ahead.start()

    def run_groups(self, choices, options_of):
        """Runs the groups in their order, as many beside each other as two processors allow. A group that no longer fits into
        the run is left out."""
        waiting = collections.deque(choices)
        running, lock = {}, threading.Condition()

        def work(result):
            try:
                self.run_group(result)
            finally:
                with lock:
                    del running[result.group]
                    self.results.append(result)
                    lock.notify_all()

        def free_cores():
            return 2 - sum(self.guards[group].cores for group in running)

        while waiting:
            choice = waiting.popleft()
            guard = self.guards[choice.group]
            if not self.starts(choice):
                self.left_out.append(choice)
                continue
            with lock:
                lock.wait_for(lambda: free_cores() >= guard.cores)
            # Later than it was when the group was looked at.
            if not self.starts(choice):
                self.left_out.append(choice)
                continue
            if choice.group in groups.MEASURES and self.ahead:
                self.ahead.join()
            result = Result(choice, options_of(guard))
            with lock:
                running[choice.group] = result
            threading.Thread(target=work, args=(result,)).start()
        with lock:
            lock.wait_for(lambda: not running)
        if self.ahead:
            self.ahead.join()

    def starts(self, choice):
        """Without a limit of time, each group does."""
        return True

    def run_group(self, result):
        begin = time.monotonic()
        directory = self.directory / result.group
        directory.mkdir(parents=True, exist_ok=True)
        with open(self.directory / f"{result.group}.log", "wb") as log:
            result.place = Place(self.root, directory, log, {})
            result.steps = self.functions[result.group](result.options)
            for number, step in enumerate(result.steps):
                result.failures[number] = step.run(result.place)
                if result.failures[number] and not step.can_run_again:
                    break  # what comes next needs it
        result.seconds = time.monotonic() - begin
        self.output(f"{'ok' if result.has_passed else 'FAILED'} {result.group} ({result.seconds:.0f} s, CPU "
                    f"{result.place.cpu_s:.0f} s) {counts(self.log_of(result))}")
        self.record_green(result)

    def record_green(self, result):
        """At once, so that a run that is cut off keeps what it has shown."""
        if result.has_passed and not result.options.quick and not OVERRIDES & set(os.environ):
            options = result.options
            self.record.set_green(result.group, options.part, options.parts, result.choice.changed)

    def log_of(self, result):
        return (self.directory / f"{result.group}.log").read_bytes()

    def run_failed_again(self):
        """Alone, when all groups have ended. What passes then was unstable: it is recorded, and red where it was unstable
        within the last ten runs."""
        for result in self.results:
            if result.has_passed or not self.may_run_again(result):
                continue
            with open(self.directory / f"{result.group}.log", "ab") as log:
                result.place.log = log
                first = [failure for found in result.failures.values() for failure in found]
                for _ in range(RUNS_AGAIN_MAX):
                    for number, step in enumerate(result.steps):
                        if result.failures[number]:
                            result.failures[number] = step.run(result.place, again=True)
                    if result.has_passed:
                        break
            still = {failure.test for found in result.failures.values() for failure in found}
            for failure in first:
                if failure.test not in still:
                    self.add_flaky(result, failure)
            self.record_green(result)

    def may_run_again(self, result):
        if result.group in groups.SINGLE_FAILURE_IS_RED or SANITIZER_REPORT.search(self.log_of(result)):
            return False
        found = [(result.steps[number], failures) for number, failures in result.failures.items() if failures]
        return all(step.can_run_again for step, _ in found) and sum(len(f) for _, f in found) <= UNSTABLE_MAX

    def add_flaky(self, result, failure):
        is_second = self.record.was_flaky(failure.test)
        self.record.add_flaky(failure.test, failure.message)
        self.flaky.append(failure)
        self.output(f"flaky: {failure.test}\n" + indented(failure.message))
        if is_second:
            result.failures[-1] = [Failure(failure.test, "unstable for the second time within 10 runs")]

    def report(self):
        """Shows what failed."""
        failed = [result for result in self.results if not result.has_passed]
        for result in failed:
            self.output(f"---- {result.group}: what failed, and the end of build/test/{result.group}.log")
            for failures in result.failures.values():
                for failure in failures[:10]:
                    self.output(f"{failure.test}\n{indented(failure.message)}")
            lines = self.log_of(result).decode(errors="replace").splitlines()
            self.output("\n".join([line for line in lines if FAILURES.search(line)][:30] + lines[-60:]))
        return failed


def counts(log):
    """What the test runners printed last."""
    lines = re.findall(rb"^(?:\d+ passed.*|.*tests passed.*|=+ .*(?:passed|failed).*|\d+ failed.*)$", log, re.M)
    return b" ".join(lines[-3:]).decode(errors="replace")


def indented(text):
    return "\n".join("    " + line for line in text.splitlines())


class TimedRun(Run):
    """A run of continuous integration: no group begins that would carry it past its end."""

    def starts(self, choice):
        return guards.fits(self.guards[choice.group], choice, self.elapsed_s())

    def report(self):
        failed = super().report()
        for choice in self.left_out:
            if choice.owed:
                self.record.set_owed(choice.group)
        ran = {result.group for result in self.results}
        for row in self.guards.values():
            past = self.record.past(row.group)
            commit = self.record.green_at(row.group)
            green = f"green at {commit[:9]}, {past.runs_old} runs old" if commit else "never green"
            word = "ran" if row.group in ran else "OWED" if past.owed else "not now"
            self.output(f"{row.group:10} {word:8} {green}")
        for result in self.results:
            row = self.guards[result.group]
            if result.seconds > row.minutes * 90:
                self.output(f"slow: {row.group} took {result.seconds / 60:.1f} minutes; tests/GUARDS says {row.minutes:g}")
        return failed


def parse(words):
    parser = argparse.ArgumentParser(add_help=False)
    for name in ("--quick", "--root", "--ci", "--plan", "--flaky", "--long"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--engine", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("groups", nargs="*")
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.groups if name not in groups.ALL]
    if unknown:
        parser.error(f"no group {unknown[0]}; groups: {' '.join(groups.ALL)}")
    if arguments.engine != "sqlite" and (arguments.ci or not set(arguments.groups) or set(arguments.groups) - groups.BOTH_ENGINES):
        parser.error(f"--engine {arguments.engine}: name some of {' '.join(sorted(groups.BOTH_ENGINES))}")
    return arguments


def write_flaky(record, path):
    """tests/FLAKY: for people."""
    lines = ["# Tests that failed in continuous integration and passed when they ran again alone, as recorded on the machine",
             "# that wrote this file (scripts/test --flaky): date, test, the first failure's first line."]
    lines += ["\t".join([row["date"], row["test"], (row["message"].splitlines() or [""])[0]]) for row in record.flaky]
    path.write_text("\n".join(lines) + "\n")


def main(words):
    arguments = parse(words)
    root = groups.ROOT
    rows = guards.read_guards((root / "tests/GUARDS").read_text())
    record = Record(cache_directory() / "ci/record.json", Tree(root))
    if arguments.flaky:
        write_flaky(record, root / "tests/FLAKY")
        return 0

    may_root = os.geteuid() == 0 and (arguments.root or arguments.ci)
    if arguments.ci:
        if not arguments.plan:
            record.begin_run()
        usable = [row for row in rows if (may_root or not row.root) and row.group not in groups.BY_HAND]
        names = [row.group for row in usable]
        choices = guards.choose(usable, record.changed(names), {name: record.past(name) for name in names})
    else:
        wanted = arguments.groups or (groups.QUICK if arguments.quick else [
            row.group for row in rows if may_root or not row.root])
        choices = [guards.Choice(name, "asked for") for name in wanted]

    def options_of(row):
        parts = row.parts if arguments.ci else 1
        return groups.Options(arguments.quick, arguments.long, record.part(row.group, parts), parts, arguments.engine)

    expected = choices
    if arguments.ci:
        by_group = {row.group: row for row in rows}
        planned = list(guards.schedule(by_group, choices))
        expected = [choice for choice, begin in planned if begin is not None]
        show_plan(planned, by_group, record)
        if arguments.plan:
            return 0

    environment(arguments.long, arguments.engine)
    (root / "build/test").mkdir(parents=True, exist_ok=True)
    run = (TimedRun if arguments.ci else Run)(root, groups.ALL, rows, record, again=os.environ.get("CI") == "true")
    run.compile_ahead(expected)
    run.run_groups(choices, options_of)
    if run.again:
        run.run_failed_again()
    failed = run.report()
    if arguments.ci and Place(root, None, sys.stdout, {}).call(["third_party/outdated", "--ci"]) != 0:
        failed.append(None)
    print(f"{run.elapsed_s() / 60:.1f} minutes, CPU {sum(result.place.cpu_s for result in run.results):.0f} s")
    print(f"{len(run.results) - len([f for f in failed if f])} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


def show_plan(planned, rows, record):
    print(f"run {record.run}: the groups in their order, with the minute at which each is expected to begin")
    for choice, begin in planned:
        row = rows[choice.group]
        when = "-" if begin is None else f"{begin:.0f}"
        part = f", part {record.part(choice.group, row.parts) + 1} of {row.parts}" if row.parts > 1 else ""
        left_out = "" if begin is not None else ", does not fit: OWED" if choice.owed else ", does not fit"
        print(f"  {when:>3}  {choice.group:10} {row.minutes:4g} min  {choice.why}{part}{left_out}")


def environment(is_long, engine):
    """What all groups' programs see."""
    if engine != "sqlite":
        os.environ["COMANDA_ENGINE"] = engine
    os.environ.update(COMANDA_CMAKE_OPTIONS="-DCOMANDA_TESTS=ON", PYTHONDONTWRITEBYTECODE="1")
    if is_long:
        os.environ["COMANDA_LONG"] = "yes"
    # Chooses the sample of cases where a group does not run all of them. It stays the same, so that a run that fails says
    # something about the change; --long looks at new cases.
    drawn = random.SystemRandom().randrange(2**32) if is_long else 20261123
    seed = os.environ.setdefault("COMANDA_SEED", str(drawn))
    print(f"COMANDA_SEED={seed} repeats this run", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
