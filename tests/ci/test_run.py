"""The driver of the tests on a small repository of the test's own: what passes, fails, is unstable, is owed."""

import os
import pathlib
import subprocess

import pytest

import groups
import run
import steps
from guards import Choice, Guard
from record import Record, Tree

UNSTABLE = """
import pathlib
def test_unstable():
    count = pathlib.Path({count!r})
    number = int(count.read_text()) if count.exists() else 0
    count.write_text(str(number + 1))
    assert number % 3 != 0, "one time in three"
def test_stable():
    pass
"""
BROKEN = "def test_broken():\n    assert 1 == 2, 'each time'\n"


class Project:
    """A repository with the group `unit`, whose tests are in tests/unit.py, and a record."""

    def __init__(self, root, cache):
        self.root, self.cache = root, cache
        self.git("init", "-q", "-b", "main")
        self.commit("README.md", "first")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *words], cwd=self.root, check=True,
                       capture_output=True)

    def commit(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (self.root / ".gitignore").write_text("/build/\n__pycache__/\n")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", path)

    def record(self):
        return Record(self.cache / "record.json", Tree(self.root))

    def rows(self, minutes=1.0, **more):
        return [Guard(**{"group": "unit", "minutes": minutes, "cores": 1, "parts": 1, "always": False, "root": False,
                         "paths": ("src/",), "never_owed": (), **more})]

    def run(self, functions=None, rows=None, choice=None, again=True, kind=run.TimedRun):
        """A run of continuous integration; (whether it is green, what it printed)."""
        record, printed = self.record(), []
        record.begin_run()
        rows = rows or self.rows()
        functions = functions or {"unit": lambda _: [steps.Pytest(["tests/unit.py"])]}
        driver = kind(self.root, functions, rows, record, printed.append, again)
        driver.directory.mkdir(parents=True, exist_ok=True)
        choices = [choice] if choice else [Choice(row.group, "asked for") for row in rows]
        driver.run_groups(choices, lambda row: groups.Options(part=record.part(row.group, row.parts), parts=row.parts))
        if again:
            driver.run_failed_again()
        return not driver.report(), "\n".join(printed)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "repository").mkdir()
    return Project(tmp_path / "repository", tmp_path / "cache")


def test_a_group_that_passes_is_recorded_at_its_commit(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    green, printed = project.run()
    assert green and "ok unit" in printed and "1 passed" in printed
    assert project.record().green_at("unit") == Tree(project.root).head()
    assert project.record().changed(["unit"]) == {"unit": []}


def test_what_is_not_committed_is_not_recorded_as_green(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    (project.root / "README.md").write_text("second")
    assert project.run()[0]
    assert project.record().green_at("unit") is None


def test_what_differs_from_the_green_commit_is_named_committed_or_not(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    project.run()
    project.commit("src/new.cc", "")
    (project.root / "src/newer.cc").write_text("")
    assert sorted(project.record().changed(["unit"])["unit"]) == ["src/new.cc", "src/newer.cc"]


def test_an_unstable_test_lands_once_is_named_and_is_red_the_second_time(project, tmp_path):
    project.commit("tests/unit.py", UNSTABLE.format(count=str(tmp_path / "count")))
    green, printed = project.run()
    assert green and "flaky: tests.unit::test_unstable" in printed and "one time in three" in printed
    assert [row["test"] for row in project.record().flaky] == ["tests.unit::test_unstable"]

    (tmp_path / "count").write_text("1")
    green, printed = project.run()
    assert green and "flaky" not in printed

    (tmp_path / "count").write_text("0")
    green, printed = project.run()
    assert not green and "unstable for the second time within 10 runs" in printed


def test_an_unstable_test_may_be_so_again_after_ten_runs(project, tmp_path):
    project.commit("tests/unit.py", UNSTABLE.format(count=str(tmp_path / "count")))
    assert project.run()[0]
    for _ in range(10):
        project.record().begin_run()
    (tmp_path / "count").write_text("0")
    assert project.run()[0]


def test_an_unstable_test_is_red_where_nothing_runs_again(project, tmp_path):
    project.commit("tests/unit.py", UNSTABLE.format(count=str(tmp_path / "count")))
    assert not project.run(again=False)[0]


def test_a_test_that_fails_each_time_is_red_at_once(project):
    project.commit("tests/unit.py", BROKEN)
    green, printed = project.run()
    assert not green and "flaky" not in printed and "each time" in printed
    assert project.record().green_at("unit") is None


def test_a_real_failure_beside_an_unstable_test_is_red(project, tmp_path):
    project.commit("tests/unit.py", UNSTABLE.format(count=str(tmp_path / "count")) + BROKEN)
    green, printed = project.run()
    assert not green and "flaky: tests.unit::test_unstable" in printed and "tests.unit::test_broken" in printed


def test_many_failures_are_no_instability(project):
    project.commit("tests/unit.py", "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_it(n):\n    assert 0\n")
    assert project.run()[1].count("6 failed") == 2  # in the group's line, and at the end of its log: run once


@pytest.mark.parametrize("group", sorted(groups.SINGLE_FAILURE_IS_RED))
def test_a_single_failure_is_red_in_groups_that_draw_by_a_seed(project, tmp_path, group):
    project.commit("tests/unit.py", UNSTABLE.format(count=str(tmp_path / "count")))
    green, _ = project.run({group: lambda _: [steps.Pytest(["tests/unit.py"])]}, project.rows(group=group))
    assert not green


@pytest.mark.parametrize("report", ["ERROR: AddressSanitizer: heap-use-after-free", "x.cc:1:2: runtime error: shift",
                                    "WARNING: ThreadSanitizer: data race"])
def test_a_report_of_a_sanitizer_is_red(project, tmp_path, report):
    text = UNSTABLE.format(count=str(tmp_path / "count")).replace("one time in three", report)
    project.commit("tests/unit.py", text)
    assert not project.run()[0]


def test_a_file_that_cannot_be_read_and_a_group_without_tests_are_red(project):
    project.commit("tests/unit.py", "import nothing_of_that_name\n")
    assert not project.run()[0]
    project.commit("tests/unit.py", "")
    assert not project.run()[0]


def test_a_command_that_fails_ends_its_group_and_is_not_run_again(project, tmp_path):
    count = tmp_path / "count"
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    green, printed = project.run({"unit": lambda _: [steps.Command(["sh", "-c", f"echo >>{count}; exit 3"]),
                                                     steps.Pytest(["tests/unit.py"])]})
    assert not green and "exit status 3" in printed and "passed" not in printed and count.read_text() == "\n"


def test_a_group_that_does_not_fit_is_owed_until_it_was_green(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    green, printed = project.run(rows=project.rows(minutes=30), choice=Choice("unit", "src/a.cc differs", owed=True))
    assert green and "OWED" in printed and project.record().past("unit").owed
    project.run()
    assert not project.record().past("unit").owed


def test_a_group_that_is_never_owed_runs_past_the_end(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    choice = Choice("unit", "src/a.cc differs", never_owed=True)
    assert "ok unit" in project.run(rows=project.rows(minutes=30), choice=choice)[1]


def test_the_next_run_takes_the_next_part(project):
    project.commit("tests/unit.py", "import os\ndef test_it():\n    assert os.environ['COMANDA_PART'] == os.environ['EXPECTED']\n")
    functions = {"unit": lambda options: [steps.Pytest(["tests/unit.py"], environment=options.part_of_tests())]}
    for expected in ("0/2", "1/2", "0/2"):
        os.environ["EXPECTED"] = expected
        assert project.run(functions, project.rows(parts=2))[0], expected


def test_after_a_change_each_part_is_owed(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    functions = {"unit": lambda options: [steps.Pytest(["tests/unit.py"])]}

    def owed_after(parts=3, **how):
        assert project.run(functions, project.rows(parts=parts), choice=Choice("unit", "", **how))[0]
        return project.record().past("unit").owed
    assert [owed_after(changed=True), owed_after(owed=True), owed_after(owed=True)] == [True, True, False]
    assert [owed_after(changed=True), owed_after(changed=True), owed_after(), owed_after()] == [True, True, True, False]
    assert not owed_after(), "in its turn"
    assert owed_after(changed=True) and not owed_after(parts=1), "the whole group was asked for"


def test_a_record_that_cannot_be_read_is_none(project):
    (project.cache).mkdir()
    (project.cache / "record.json").write_text('{"run": ')
    record = project.record()
    assert record.run == 0 and record.past("unit").runs_old is None
    assert record.changed(["unit"])["unit"] == []  # of one commit, which has no other before it


def test_a_commit_of_another_history_is_none(project):
    project.commit("tests/unit.py", "def test_it():\n    pass\n")
    project.run()
    path = project.cache / "record.json"
    path.write_text(path.read_text().replace(Tree(project.root).head(), "0" * 40))
    assert project.record().green_at("unit") is None and project.record().past("unit").runs_old is None


def test_without_a_record_the_commits_since_origin_count(project):
    project.git("update-ref", "refs/remotes/origin/main", "HEAD")
    for number in range(3):
        project.commit(f"src/{number}.cc", "")
    assert sorted(project.record().changed(["unit"])["unit"]) == ["src/0.cc", "src/1.cc", "src/2.cc"]


def test_groups_that_wait_run_beside_each_other_and_others_alone(project, tmp_path):
    """Two groups that each wait until the other one runs; a third finds neither of them."""
    def meets(other):
        return [steps.Command(["sh", "-c", f"touch {tmp_path}/$0; until [ -e {tmp_path}/$1 ]; do sleep 0.01; done", *other])]
    functions = {"one": lambda _: meets(("one", "two")), "two": lambda _: meets(("two", "one")),
                 "alone": lambda _: [steps.Command(["sh", "-c", f"[ -e {tmp_path}/one ] && [ -e {tmp_path}/two ]"])]}
    rows = [row for name, cores in (("one", 1), ("two", 1), ("alone", 2)) for row in project.rows(group=name, cores=cores)]
    assert project.run(functions, rows)[0]


GTEST = """[==========] Running 2 tests from 1 test suite.
[ RUN      ] DbWriter.Commits
db_writer_test.cc:12: Failure
Expected equality of these values:
[  FAILED  ] DbWriter.Commits (3 ms)
[ RUN      ] DbWriter.Stops
[       OK ] DbWriter.Stops (0 ms)
[==========] 2 tests from 1 test suite ran. (3 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] DbWriter.Commits
"""


def test_a_failure_of_a_unit_test_has_its_name_and_its_lines():
    failure, = steps.failures_of_program("unit_db", GTEST)
    assert failure.test == "unit_db: DbWriter.Commits" and "db_writer_test.cc:12: Failure" in failure.message


def test_a_unit_program_that_crashes_has_its_own_name():
    failure, = steps.failures_of_program("unit_db", GTEST.split("[       OK ]")[0] + "Segmentation fault\n")
    assert failure.test == "unit_db"


def test_the_shell_scripts_of_style_are_found():
    names = {str(path.relative_to(groups.ROOT)) for path in groups.shell_scripts()}
    assert {"scripts/test", "scripts/build", ".ci/run", "third_party/build", "board/setup.sh", "tests/support/fresh_machine"} <= names
    assert "scripts/check_rooms" not in names and pathlib.Path("scripts/embed.cmake") not in names


def test_groups_about_the_file_of_the_database_are_refused_on_the_other_engine():
    assert run.parse(["api", "hostile", "--engine", "postgresql"]).engine == "postgresql"
    for words in (["fault"], ["api", "power"], [], ["--ci"]):
        with pytest.raises(SystemExit):
            run.parse([*words, "--engine", "postgresql"])


FOLDERS = sorted({path.parent for path in groups.ROOT.glob("tests/*/test_*.py")})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_of_tests_can_be_imported(folder):
    """Also of groups that this run does not take."""
    done = subprocess.run(["/usr/bin/python3", "-m", "pytest", "--collect-only", "-q", folder], cwd=groups.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
