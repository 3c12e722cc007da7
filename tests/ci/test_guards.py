"""tests/GUARDS as it is, and how the groups of a run are chosen by it."""

import ast

import groups
import guards
from guards import Guard, Past

ROWS = guards.read_guards((groups.ROOT / "tests/GUARDS").read_text())
BY_NAME = {row.group: row for row in ROWS}
EVERY_RUN = ["style", "units", "api", "model", "sql", "hostile", "cloud"]


def chosen(changed, past=None, rows=ROWS):
    return guards.choose(rows, {row.group: changed for row in rows}, past or {})


def test_each_group_has_a_row_and_each_row_a_group():
    assert sorted(BY_NAME) == sorted(groups.ALL) and len(BY_NAME) == len(ROWS)
    assert sorted(EVERY_RUN) == sorted(row.group for row in ROWS if row.always)


def test_each_folder_is_guarded_by_a_group_beyond_units_and_api():
    beyond = [row for row in ROWS if row.group not in ("units", "api")]
    for top in ("src", "third_party", "board", "scripts", "systemd"):
        for folder in [groups.ROOT / top, *(path for path in (groups.ROOT / top).iterdir() if path.is_dir())]:
            path = f"{folder.relative_to(groups.ROOT)}/any_file"
            assert any(row.guarded([path]) for row in beyond), f"tests/GUARDS: no group guards {path}"


def test_each_path_of_a_row_is_there():
    for row in ROWS:
        for path in row.paths:
            assert list(groups.ROOT.glob(path.rstrip("/"))), f"tests/GUARDS: {row.group} guards {path}, which does not exist"


def test_each_group_fits_into_a_run_beside_those_of_every_run():
    always = sum(row.minutes / (2 if row.cores == 1 else 1) for row in ROWS if row.always)
    for row in ROWS:
        assert row.always or row.group in groups.BY_HAND or always + row.minutes <= guards.RUN_MAX_MINUTES, f"tests/GUARDS: {row.group} never begins"


def test_parts_of_groups_that_try_bare_debians_are_their_suites():
    assert BY_NAME["package"].parts == len(groups.SUITES)
    parts = BY_NAME["fresh"].parts
    asked = [groups.fresh(groups.Options(part=part, parts=parts))[0].words[4:] for part in range(parts)]
    assert sorted(asked) == sorted(["--tests", tests, suite] for tests in groups.FRESH_TESTS for suite in groups.SUITES)
    assert " ".join(groups.FRESH_TESTS).split() == groups.QUICK
    assert groups.Options(part=1, parts=2).suites() == ["trixie"] and groups.Options().suites() == groups.SUITES


def test_every_run_begins_with_the_groups_of_every_run():
    assert sorted(choice.group for choice in chosen([])[:len(EVERY_RUN)]) == sorted(EVERY_RUN)


def test_what_runs_in_any_case_keeps_both_processors_busy():
    choices = chosen(["src/app/migrations/0099_new.sql", "src/json/reader.cc"])
    names = [choice.group for choice in choices if choice.never_owed or choice.group in EVERY_RUN]
    assert names[:2] == ["units", "model"] and names[-1] == "sanitize"
    minutes = [BY_NAME[name].minutes for name in names[2:-1]]
    assert minutes == sorted(minutes, reverse=True) and {"package", "power", "api"} < set(names)
    migration = chosen(["src/app/migrations/0099_new.sql"])
    ends = [begin + BY_NAME[choice.group].minutes for choice, begin in guards.schedule(BY_NAME, migration) if begin is not None]
    assert max(ends) <= guards.RUN_MAX_MINUTES, "a migration does not fit into a run"


def test_a_migration_is_tested_under_power_cuts_and_in_packages_however_late_it_is():
    choices = {choice.group: choice for choice in chosen(["src/app/migrations/0099_new.sql"])}
    for group in ("power", "package"):
        assert choices[group].never_owed and guards.fits(BY_NAME[group], choices[group], elapsed_s=24.9 * 60)


def test_a_change_of_the_database_the_wire_or_json_meets_the_sanitizers_however_late_it_is():
    for path in ("src/db/writer.cc", "src/wire/tls.cc", "src/json/reader.cc"):
        choices = {choice.group: choice for choice in chosen([path])}
        assert guards.fits(BY_NAME["sanitize"], choices["sanitize"], elapsed_s=24.9 * 60)


def test_other_groups_begin_only_where_they_end_in_time():
    openapi = next(choice for choice in chosen(["src/web/openapi.json"]) if choice.group == "openapi")
    minutes = BY_NAME["openapi"].minutes
    assert openapi.owed and "src/web/openapi.json" in openapi.why
    assert guards.fits(BY_NAME["openapi"], openapi, (25 - minutes) * 60)
    assert not guards.fits(BY_NAME["openapi"], openapi, (25 - minutes) * 60 + 1)


def test_a_group_is_expected_when_those_before_it_have_ended():
    rows = {name: Guard(name, minutes, cores, 1, False, False, (), ()) for name, minutes, cores in (
        ("waits", 10, 1), ("beside", 4, 1), ("next", 3, 1), ("alone", 5, 2), ("long", 9, 1), ("short", 8, 1))}
    expected = guards.schedule(rows, [guards.Choice(name, "") for name in rows])
    assert {choice.group: begin for choice, begin in expected} == {
        "waits": 0, "beside": 0, "next": 4, "alone": 10, "long": 15, "short": 15}
    long_ones = [Guard(name, 9, 2, 1, False, False, (), ()) for name in ("a", "b", "c")]
    choices = [guards.Choice("a", ""), guards.Choice("b", ""), guards.Choice("c", "")]
    assert [begin for _, begin in guards.schedule({row.group: row for row in long_ones}, choices)] == [0, 9, None]
    choices[2] = guards.Choice("c", "", never_owed=True)
    assert [begin for _, begin in guards.schedule({row.group: row for row in long_ones}, choices)] == [0, 9, 18]


def test_what_was_never_green_has_its_turn_beside_what_always_changes():
    """A group that is owed again and again must not keep another from ever running."""
    past = {row.group: Past(1, owed=True) for row in ROWS if not row.always} | {"openapi": Past(None, owed=True)}
    for changed in (["src/json/reader.cc"], ["src/orders/orders.cc", "src/doctor/checks/clock.cc"]):
        choices = chosen(changed, past)
        begins = {choice.group: begin for choice, begin in guards.schedule(BY_NAME, choices)}
        assert begins["openapi"] is not None, changed


ROW = Guard("", 1, 1, 1, False, False, ("src/x/",), ())
PLAIN = [Guard(**{**ROW.__dict__, "group": name}) for name in ("first", "second", "third", "fourth")]
ELSEWHERE = ["src/y/file.cc"]


def test_what_is_owed_comes_first_then_what_changed_then_the_stalest():
    changed = {"first": ELSEWHERE, "second": ["src/x/file.cc"], "third": ELSEWHERE, "fourth": ELSEWHERE}
    past = {"first": Past(2), "second": Past(0), "third": Past(6), "fourth": Past(1, owed=True)}
    assert [choice.group for choice in guards.choose(PLAIN, changed, past)] == ["fourth", "second", "third", "first"]
    past |= {"first": Past(2, owed=True), "third": Past(None, owed=True)}
    assert [choice.group for choice in guards.choose(PLAIN, changed, past)] == ["third", "first", "fourth", "second"]


def test_without_a_record_groups_come_in_the_order_of_the_table():
    choices = guards.choose(PLAIN, {row.group: ELSEWHERE for row in PLAIN}, {})
    assert [choice.group for choice in choices] == ["first", "second", "third", "fourth"]


def test_a_group_that_was_never_green_is_the_stalest():
    past = {"first": Past(30), "second": Past(None)}
    choices = guards.choose(PLAIN[:2], {row.group: ELSEWHERE for row in PLAIN}, past)
    assert [choice.group for choice in choices] == ["second", "first"]


def test_paths_are_folders_files_and_patterns():
    for pattern, path, matches in (("src/db/", "src/db/writer.cc", True), ("src/db/", "src/dbx/writer.cc", False),
                                   ("README.md", "README.md", True), ("README.md", "tests/README.md", False),
                                   ("src/*/json.*", "src/orders/json.cc", True), ("src/*/json.*", "src/orders/api.cc", False)):
        assert guards.matches((pattern,), path) is matches, (pattern, path)


def test_no_name_is_defined_twice_in_a_file():
    """The second definition would replace the first, also where the first one's tests call it, or a test would never run."""
    for path in sorted((groups.ROOT / "tests").rglob("*.py")):
        names = [node.name for node in ast.parse(path.read_text()).body
                 if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"{path.relative_to(groups.ROOT)}: {', '.join(sorted(twice))}"
