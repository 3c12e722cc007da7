"""third_party/outdated and update beside a small archive: which revisions are newer, which holes they close, and what becomes
of the lock."""

import contextlib
import platform

import pytest

from support.archive import Archive, Tree, entry, revision, without_reading

OLD, NEW, HOLE = "1.0-1+deb13u1", "1.0-1+deb13u2", "CVE-2026-1234"


def old(extra=""):
    return revision("dns", OLD, extra + entry("dns", OLD, "* CVE-2025-1: an older hole.", days=300))


def new(text=f"* {HOLE}: a use after free.", days=20, version=NEW):
    return revision("dns", version, entry("dns", version, text, days) + entry("dns", OLD, "* CVE-2025-1: an older hole.", days=300))


@pytest.fixture
def archive(tmp_path):
    with contextlib.closing(Archive(tmp_path)) as one:
        one.offer("trixie", old())
        yield one


@pytest.fixture
def tree(tmp_path, archive):
    one = Tree(tmp_path, archive)
    one.record(old())
    return one


@pytest.fixture(params=[(), ("--ci",)], ids=["by_hand", "ci"])
def way(request):
    return request.param


def test_nothing_is_newer(tree, way):
    done = tree.outdated(*way)
    assert (done.returncode, done.stdout) == (0, "none of 1 libraries is outdated\n")


@pytest.mark.parametrize("suite", ["trixie", "trixie-updates", "trixie-security"])
def test_a_hole_that_has_been_known_for_15_days_fails(tree, archive, way, suite):
    archive.offer(suite, new(days=15))
    done = tree.outdated(*way)
    assert done.returncode == 1
    assert f"dns {OLD} -> {NEW}: mends {HOLE} (known for 15 days)\n" in done.stdout
    assert "third_party/update" in done.stdout


def test_a_hole_that_became_known_3_days_ago_is_named_and_stops_nobody(tree, archive):
    archive.offer("trixie-security", new(days=3))
    done = tree.outdated("--ci")
    assert (done.returncode, tree.outdated().returncode) == (0, 1)
    assert f"dns {OLD} -> {NEW}: mends {HOLE} (known for 3 days)\n" in done.stdout


def test_a_hole_is_as_old_as_the_first_entry_that_names_it(tree, archive):
    late = entry("dns", "1.0-1+deb13u3", f"* {HOLE}: once more. CVE-2026-12345", days=1)
    archive.offer("trixie-security", revision("dns", "1.0-1+deb13u3", late + entry("dns", NEW, f"* {HOLE}", days=16)))
    assert f"mends {HOLE} (known for 16 days), CVE-2026-12345 (known for 1 days)\n" in tree.outdated("--ci").stdout


def test_a_revision_without_holes_is_named_and_stops_nobody(tree, archive):
    archive.offer("trixie", new("* A change of the packaging.", days=90))
    done = tree.outdated("--ci")
    assert (done.returncode, tree.outdated().returncode) == (0, 1)
    assert f"dns {OLD} -> {NEW}: mends no CVE\n" in done.stdout


def test_what_the_recorded_one_or_our_patch_mends_is_no_hole(tree, archive):
    archive.offer("trixie", new(f"* CVE-2025-1, better. {HOLE}", days=90))
    (tree.directory / "dns/01-mend.patch").write_text(f"{HOLE}: a use after free.\n")
    assert f"-> {NEW}: mends no CVE\n" in tree.outdated("--ci").stdout


def test_a_revision_beyond_the_limit_is_not_taken(tree, archive, way):
    archive.offer("sid", new(version="2.0-1"))
    assert tree.outdated(*way).returncode == 0


def test_sid_counts_where_it_closes_a_hole_that_the_release_leaves_open(tree, archive):
    archive.offer("sid", new("* A new version.", version="1.1-1"))
    assert tree.outdated().stdout == "none of 1 libraries is outdated\n"
    archive.offer("sid", new(version="1.1-2"))
    assert f"dns {OLD} -> 1.1-2: mends {HOLE}" in tree.outdated().stdout
    archive.offer("trixie-security", new())
    assert f"dns {OLD} -> {NEW}: mends {HOLE}" in tree.outdated().stdout


def test_a_recorded_revision_of_sid_is_followed_in_sid(tree, archive):
    tree.lock.write_text("")
    tree.record(new("* A new version.", version="1.1-1"), minimum=OLD)
    archive.offer("sid", new("* Another one.", version="1.1-2"))
    archive.offer("trixie-security", new())
    assert "dns 1.1-1 -> 1.1-2: mends no CVE\n" in tree.outdated().stdout


def test_without_a_network_it_says_so(tree, archive, way):
    archive.close()
    done = tree.outdated(*way)
    assert done.returncode == (0 if way else 2)
    assert done.stdout.startswith("offline? ") and done.stdout.count("\n") == 1


@pytest.mark.parametrize("suite", ["trixie", "sid", "trixie-security"])
def test_without_one_of_the_suites_nothing_newer_would_be_a_guess(tree, archive, suite):
    archive.drop(suite)
    done = tree.outdated()
    assert done.returncode == 2
    assert "offline? " in done.stdout


def test_changelogs_are_downloaded_once(tree, archive):
    archive.offer("trixie-security", new())
    changelogs = {f"dns_{version}.debian.tar.xz" for version in (OLD, NEW)}
    first = tree.outdated()
    assert changelogs <= set(archive.requests)
    archive.requests.clear()
    assert tree.outdated().stdout == first.stdout
    assert not changelogs & set(archive.requests)


def test_a_changelog_that_is_not_served_is_said(tree, archive):
    archive.offer("trixie-security", new())
    archive.withheld.add(f"dns_{NEW}.debian.tar.xz")
    done = tree.outdated("--ci")
    assert done.returncode == 0
    assert f"dns {OLD} -> {NEW}: the archive does not serve its changelog\n" in done.stdout


def test_update_takes_the_newer_ones(tree, archive):
    archive.offer("trixie-security", new())
    done = tree.update()
    assert done.returncode == 0, done.stderr
    assert f"dns: {OLD} -> {NEW}, mends {HOLE} (known for 20 days); the minimum was {OLD}\n" in done.stdout
    assert tree.rows("package", "dns") == [("dns", NEW, NEW, "2~")]
    assert tree.rows("file", "dns") == new().sum_lines()
    assert f"| dns | {NEW} | {NEW} | dns: a library. |" in (tree.directory / "CONTENTS.md").read_text()
    assert platform.machine() in tree.targets_built()
    assert tree.outdated().returncode == 0
    assert tree.update().stdout == "none of these libraries is outdated\n"


def test_update_raises_no_minimum_for_a_revision_without_holes(tree, archive):
    archive.offer("trixie", new("* A change of the packaging."))
    assert tree.update().returncode == 0
    assert tree.rows("package", "dns") == [("dns", NEW, OLD, "2~")]


def test_update_of_named_libraries_leaves_the_others(tree, archive):
    other = revision("tls", "1.0-1", entry("tls", "1.0-1"))
    tree.record(other)
    archive.offer("trixie", new())
    archive.offer("trixie", revision("tls", "1.0-2", entry("tls", "1.0-2")))
    assert tree.update("tls").returncode == 0
    assert tree.rows("package", "dns") == [("dns", OLD, OLD, "2~")]
    assert tree.rows("package", "tls") == [("tls", "1.0-2", "1.0-1", "2~")]
    assert tree.rows("file", "dns") == old().sum_lines()


def test_update_keeps_to_the_files_that_the_recipe_needs(tree, archive):
    lines = [line for line in tree.lock.read_text().splitlines(True) if "debian.tar" not in line]
    tree.lock.write_text("".join(lines))
    archive.offer("trixie", new())
    assert tree.update().returncode == 0
    assert [name for name, _ in tree.rows("file", "dns")] == ["dns_1.0.orig.tar.xz"]


def test_update_leaves_out_what_the_archive_does_not_serve(tree, archive):
    archive.offer("trixie-security", new())
    archive.withheld.add(f"dns_{NEW}.debian.tar.xz")
    before = tree.lock.read_text()
    done = tree.update()
    assert done.returncode == 1
    assert f"dns: {NEW} is left out" in done.stdout
    assert (tree.lock.read_text(), tree.targets_built()) == (before, [])


def test_update_records_what_is_not_served_yet_and_builds_take_the_one_before(tree, archive):
    archive.offer("trixie-security", new())
    archive.forget("trixie", "dns")
    archive.withheld.add(f"dns_{NEW}.debian.tar.xz")
    assert tree.update("--unserved").returncode == 0
    assert tree.rows("package", "dns") == [("dns", NEW, OLD, "2~")]
    assert tree.rows("older", "dns") == [(OLD, *file) for file in old().sum_lines()]

    version, said = tree.resolve("dns")
    assert version == OLD
    assert f"dns: the archive does not serve the recorded {NEW}; taking {OLD}" in said
    assert f"dns {NEW}: the archive did not serve it; builds with this cache have {OLD}\n" in tree.outdated().stdout

    archive.withheld.clear()
    assert tree.update().returncode == 0
    assert tree.rows("package", "dns") == [("dns", NEW, NEW, "2~")]
    assert tree.rows("older", "dns") == []
    assert tree.resolve("dns") == (NEW, "")


def test_update_refuses_a_file_that_is_not_the_index_s(tree, archive):
    archive.offer("trixie-security", new())
    archive.put_into_pool("debian-security", new("* Something else."))
    before = tree.lock.read_text()
    assert tree.update().returncode != 0
    assert tree.lock.read_text() == before


def test_a_build_with_an_empty_cache_says_that_the_recorded_revision_is_outdated(tree, archive):
    assert without_reading(tree.resolve("dns")[1]) == ""
    archive.forget("trixie", "dns")
    archive.offer("trixie", new())
    for file in (tree.place / "cache/downloads").iterdir():
        file.unlink()
    version, said = tree.resolve("dns")
    assert version == OLD
    assert without_reading(said) == (f"third_party: dns: {OLD} is taken as recorded, but the archive's index has {NEW} by now: "
                                     "run third_party/update\n")
    # Once it is there, nothing is said and nothing read.
    assert tree.resolve("dns") == (OLD, "")
