"""What the linker made: one small, self-contained, hardened file."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("COMANDA_BINARY", ROOT / "build/release/comanda"))

# Of both Debians, whose compilers make different code of the same sources.
BYTES_MAX = 8_000_000

# One row of `readelf -lW`: type, five numbers, flags.
SEGMENT = re.compile(r"^\s+([A-Z_]+)\s+0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ ([R ][W ][E ])")


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, str(BINARY)], capture_output=True, text=True,
                          check=True, env={**os.environ, "LC_ALL": "C"}).stdout


@pytest.fixture(scope="module")
def segments():
    """[(type, flags)]"""
    found = [m.groups() for m in map(SEGMENT.match, readelf("-l").splitlines()) if m]
    assert [kind for kind, _ in found].count("LOAD") >= 2
    return found


@pytest.fixture(scope="module")
def dynamic():
    return readelf("-d")


def test_is_small():
    assert BINARY.stat().st_size <= BYTES_MAX


def test_carries_no_symbols():
    sections = readelf("-S")
    assert " .text " in sections
    assert " .symtab " not in sections and ".debug" not in sections


def test_needs_no_other_file(segments, dynamic):
    assert "INTERP" not in {kind for kind, _ in segments}
    assert "NEEDED" not in dynamic


def test_loads_at_any_address(dynamic):
    assert re.search(r"Type:\s+DYN", readelf("-h"))
    assert re.search(r"FLAGS_1\).*\bPIE\b", dynamic)


def test_seals_its_tables_before_it_runs(segments, dynamic):
    assert "GNU_RELRO" in {kind for kind, _ in segments}
    assert re.search(r"FLAGS_1\).*\bNOW\b", dynamic)


def test_has_nothing_both_written_and_run(segments):
    assert ("GNU_STACK", "RW ") in segments
    assert [s for s in segments if "W" in s[1] and "E" in s[1]] == []


def test_has_no_relocations_in_its_code(dynamic):
    assert "TEXTREL" not in dynamic
