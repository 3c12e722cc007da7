"""The groups of tests: a function each, which returns its steps. What each group guards, and how long it takes: tests/GUARDS."""

import pathlib
import platform
import shutil

from steps import Command, Ctest, Pytest, build

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Rooms that have threads of their own, under the thread sanitizer.
RACING_UNITS = "unit_base unit_db unit_net unit_wire unit_auth unit_http unit_events unit_webhooks unit_integrity"
# The lowest rooms, whose code depends on the architecture.
ARM_UNITS = "unit_base unit_crypto unit_json unit_db unit_wire unit_http"
SUITES = ["bookworm", "trixie"]
FRESH_TESTS = ["style units", "api"]  # --quick in halves

# In these, a test that fails once is a defect: it repeats by its seed, or shows a race that is rarely seen.
SINGLE_FAILURE_IS_RED = {"hostile", "model", "races"}
# Not in continuous integration: they take longer than there is room for.
BY_HAND = {"failover", "bare_office"}
# These run on either engine of the database (--engine).
BOTH_ENGINES = {"api", "model", "cloud", "hostile"}
# Begun when no other group runs and nothing is compiled.
MEASURES = {"bench"}
# What is compiled at low priority while earlier groups run.
AHEAD = {
    "sanitize": build("sanitize", "all units fuzzers"),
    "fuzz": build("sanitize", "all units fuzzers"),
    "races": build("races", f"comanda {RACING_UNITS}"),
    "arm64": build("arm64", f"comanda {ARM_UNITS}"),
}


def any_of(names):
    """A regular expression that matches any of the names."""
    return "^(" + "|".join(names.split()) + ")$"


class Options:
    """How the groups are to run: `part` of `parts`, quick or long, on which engine of the database."""

    def __init__(self, quick=False, long=False, part=0, parts=1, engine="sqlite"):
        self.quick, self.long, self.part, self.parts, self.engine = quick, long, part, parts, engine

    def build(self):
        """The program, and the one for the other engine where the tests run on it."""
        return build("release") if self.engine == "sqlite" else build("release", "comanda comanda-head")

    def part_of_tests(self):
        return {"COMANDA_PART": f"{self.part}/{self.parts}"}

    def suites(self):
        """Of Debian, on which to try what needs a bare one."""
        return SUITES if self.parts == 1 else [SUITES[self.part % len(SUITES)]]


def style(_):
    units = sorted((ROOT / "systemd").glob("*.service"))
    return [
        Command(["scripts/format", "--check"]),
        Command(["scripts/check_rooms"]),
        *(Command(["sh", "-n", str(path.relative_to(ROOT))]) for path in shell_scripts()),
        # How much of the machine the service can reach, in tenths of systemd's scale of 10.
        *(Command(["systemd-analyze", "security", "--offline=true", "--threshold=11", "--no-pager", str(unit)]) for unit in units),
        Command(["tests/planted/run", "--compile"]),
        Pytest(["tests/ci"]),
    ]


def shell_scripts():
    patterns = ["scripts/*", "board/setup.sh", "board/*/setup", "systemd/package*/*", "systemd/head-office/*", "third_party/*", "tests/openapi/tools", "tests/web/tools",
                "tests/support/*", ".ci/run"]
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        if path.is_file():
            with open(path, "rb") as file:
                if file.readline().rstrip().endswith(b"sh"):
                    yield path


def units(options):
    histories = {"COMANDA_HISTORIES": "2000"} if options.quick else {}
    return [build("release", "all units"), Ctest("release", environment=histories), Pytest(["tests/binary"])]


def api(options):
    return [options.build(), Pytest(["tests/api", "tests/board"], 6)]


def model(options):
    """Random histories, and random queries of lists and reports, compared with models."""
    return [options.build(), Pytest(["tests/model"], 2, by_file=True)]


def cloud(options):
    """Boxes that are linked with a cloud, over lines that fail."""
    return [options.build(), Pytest(["tests/cloud"], 3)]


def sql(_):
    """Prepares every SQL statement on PostgreSQL, and looks for those that SQLite would run by reading a whole table."""
    return [build("release", "comanda_explain comanda_dialect"), Pytest(["tests/sql"])]


def openapi(options):
    """Other projects' tools on the OpenAPI document."""
    return [build("release"), Pytest(["tests/openapi"], 2, by_file=True, environment=options.part_of_tests())]


def web(_):
    """The pages that are programs: types, rules, and cooks in Chromium."""
    return [build("release"), Pytest(["tests/web"], 2, by_file=True)]


def lan(_):
    """Devices on a LAN of several machines (network namespaces): avahi, Chromium."""
    return [build("release"), Pytest(["tests/lan"], 4)]


def apps(_):
    """The program among delivery apps that have their real names (network namespaces)."""
    return [build("release"), Pytest(["tests/apps"], 2)]


def hostile(options):
    """Tens of thousands of malformed requests."""
    return [options.build(), Pytest(["tests/hostile"], 2)]


def fault(options):
    return [build("release"), Pytest(["tests/fault"], 4, by_file=True, environment=options.part_of_tests())]


def head(options):
    """comanda-head: what becomes of its one database server, and the suites of the API, the models and hostile clients on it."""
    engine = {"COMANDA_ENGINE": "postgresql", **options.part_of_tests()}
    return [build("release", "comanda comanda-head"), Pytest(["tests/head"], environment=engine),
            Pytest(["tests/api", "tests/model", "tests/hostile"], 3, environment=engine)]


def power(_):
    """Power cuts need loop devices, and kills at each step a tracer that attaches to a running process."""
    return [build("release"), Pytest(["tests/power"], 2, by_file=True)]


def planted(options):
    """Verifies that the tests find mistakes: each is planted into a copy, which is compiled and must fail a test."""
    return [Command(["tests/planted/run"], options.part_of_tests() if options.parts > 1 else {})]


def sanitize(options):
    """The units and the API's tests under clang's sanitizers for addresses and undefined behaviour."""
    # Ten times slower, hence fewer histories of the clock than in units.
    histories = {} if options.long else {"COMANDA_HISTORIES": "500"}
    server = {"COMANDA_BINARY": "build/sanitize/comanda", "COMANDA_PATIENCE": "120", **options.part_of_tests()}
    return [build("sanitize", "all units"), Ctest("sanitize", environment=histories),
            Pytest(["tests/api", "tests/model/test_histories.py"], 2, environment=server)]


def races(_):
    """The rooms that have threads, and the whole server, under clang's thread sanitizer."""
    server = {"COMANDA_BINARY": "build/races/comanda", "COMANDA_PATIENCE": "120"}
    return [build("races", f"comanda {RACING_UNITS}"), Ctest("races", any_of(RACING_UNITS)),
            Pytest(["tests/races", "tests/api/test_webhook_deliveries.py", "tests/cloud/test_status.py",
                    "tests/cloud/test_failing_line.py"], 2, by_file=True, environment=server)]


def arm_emulator():
    """Debian's releases name it otherwise; none is needed on ARM."""
    names = [] if platform.machine() == "aarch64" else ["qemu-aarch64-static", "qemu-aarch64"]
    return next((name for name in names if shutil.which(name)), "")


def arm64(options):
    """The lowest rooms, and the whole server, on ARM under an emulator; all rooms with --long."""
    wanted = "units" if options.long else ARM_UNITS
    # Not here: repairs of damaged files, for which the emulator takes a quarter of an hour.
    fewer = {} if options.long else {"GTEST_FILTER": "-*DbInspector*:DbMigrate.SortsMoreThanThereIsMemory"}
    server = {"COMANDA_BINARY": "build/arm64/comanda", "COMANDA_RUNNER": arm_emulator(), "COMANDA_PATIENCE": "120"}
    return [build("arm64", f"comanda {wanted}"), Ctest("arm64", "" if options.long else any_of(wanted), fewer),
            Pytest(["tests/binary", "tests/api/test_smoke.py"], environment=server)]


def fuzz(options):
    """Replays what the fuzzers have kept; searches for more with --long."""
    return [Command(["scripts/fuzz", "--seconds", "600"] if options.long else ["scripts/fuzz", "--replay"])]


def includes(_):
    """All sources include what they use: precompiled headers hide what is missing."""
    return [build("includes")]


def failover(_):
    """Machines of a head office fail while tills sell: three of them with etcd, Patroni and HAProxy, on loopback."""
    return [build("release", "comanda-head"), Pytest(["tests/failover"])]


def bare_office(options):
    """The steps of systemd/head-office/README.md on three bare Debians and a box."""
    return [Command(["scripts/package"]), Command(["scripts/package", "--head"]),
            Pytest(["tests/bare_office"], environment={"COMANDA_SUITES": " ".join(options.suites())})]


def bench(_):
    """Verifies that the benchmarks run and write their tables; asserts no speed, because machines are noisy."""
    return [Command(["sh", "-euc", """
        rm -f build/bench.json build/scale.json
        scripts/bench --brief >build/test/bench.table
        cat build/test/bench.table
        scripts/bench --scale --brief
        [ -s build/bench.json ] && [ -s build/scale.json ]
        # The last row: bytes kept of a closed order.
        grep -q '^kept of an order once closed' build/test/bench.table"""])]


def package(options):
    """What is in the packages, and their life in bare Debians."""
    return [Command(["scripts/package"]), Command(["scripts/package", "--head"]), Pytest(["tests/package"], 2, environment={"COMANDA_SUITES": " ".join(options.suites())})]


def fresh(options):
    """The README's commands and the quick tests on bare Debians, at low priority, because it downloads and compiles for
    minutes. A part runs half of those tests on one of them."""
    tests = [] if options.parts == 1 else ["--tests", FRESH_TESTS[options.part // len(SUITES)]]
    return [Command(["nice", "-n", "19", "tests/support/fresh_machine", *tests, *options.suites()])]


ALL = {function.__name__: function for function in (
    style, units, api, model, sql, hostile, cloud, head, openapi, web, lan, apps, fault, power, package, sanitize, races, fuzz, arm64,
    planted, fresh, bench, includes, failover, bare_office)}
QUICK = ["style", "units", "api"]
