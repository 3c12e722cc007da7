"""The audit log of changes to keys, as `comanda audit` shows it (contract section 3)."""

import contextlib
import json
import pathlib

import pytest

from support.box import Box
from support.orders import INSTANT, accepted

OTHER = pathlib.Path(__file__).parent.parent / "support" / "other_restaurant.json"
KEYS = "/auth/api-keys"
ENTRY = ["seq", "at", "actor", "action", "subject_id", "detail"]


@pytest.fixture(scope="module")
def audited(demo, other_company):
    """A box of our own with two companies: (box, the first one's managing key)."""
    box = Box()
    box.bring_in("demo")
    box.bring_in(OTHER)
    made = box.make_key(company=demo["id"], name="owner")
    box.start()
    yield box, made
    assert box.discard() == 0


def audit(box, *words):
    return json.loads(box.command("audit", "--data", str(box.data), "--json", *words).stdout)


def entries(box, company, *words):
    return audit(box, "--company", company, *words)["data"]


def test_every_change_of_a_key_is_there_newest_first(audited, demo):
    box, owner = audited
    with contextlib.closing(box.client(owner["key"])) as api:
        made = accepted(api.post(KEYS, {"name": "till 1", "scopes": ["orders:read"]}), 201)
        accepted(api.patch(f"{KEYS}/{made['id']}", {"name": "till 2"}))
        rotated = accepted(api.post(f"{KEYS}/{made['id']}/rotate"))
        accepted(api.delete(f"{KEYS}/{rotated['id']}"))
    found = entries(box, demo["id"])
    assert [list(e) for e in found] == [ENTRY] * len(found)
    assert [e["seq"] for e in found] == list(range(len(found), 0, -1))
    assert all(INSTANT.fullmatch(e["at"]) for e in found)
    by = "key:" + owner["id"]
    assert [(e["actor"], e["action"], e["subject_id"]) for e in found[:5]] == [
        (by, "key.revoked", rotated["id"]), (by, "key.rotated", made["id"]), (by, "key.created", rotated["id"]),
        (by, "key.changed", made["id"]), (by, "key.created", made["id"])]
    assert [e["detail"]["name"] for e in found[:5]] == ["till 2"] * 4 + ["till 1"]
    assert found[-1]["actor"] == "local" and found[-1]["subject_id"] == owner["id"]


def test_what_changes_nothing_leaves_no_entry(audited, demo):
    box, owner = audited
    before = audit(box, "--company", demo["id"])["pagination"]["total"]
    with contextlib.closing(box.client(owner["key"])) as api:
        api.post(KEYS, {"name": "", "scopes": []})
        api.get(KEYS)
    assert audit(box, "--company", demo["id"])["pagination"]["total"] == before


def test_no_entry_holds_a_key(audited, demo):
    box, owner = audited
    text = box.command("audit", "--data", str(box.data), "--company", demo["id"], "--json").stdout
    assert owner["key"] not in text and owner["key"][16:] not in text
    assert all("key" not in e["detail"] and "hash" not in e["detail"] for e in json.loads(text)["data"])


def test_people_read_a_line_for_each_entry(audited, demo):
    box, owner = audited
    lines = box.command("audit", "--data", str(box.data), "--company", demo["id"]).stdout.splitlines()
    assert len(lines) == audit(box, "--company", demo["id"])["pagination"]["total"]
    assert lines[-1].split()[1:4] == ["local", "key.created", owner["id"]]
    assert '"owner"' in lines[-1] and "orders:read" in lines[-1] and INSTANT.fullmatch(lines[-1].split()[0])


def test_each_company_has_its_own_log(audited, demo, other_company):
    box, owner = audited
    assert entries(box, other_company["id"]) == []
    made = box.make_key(company=other_company["id"])
    assert [e["subject_id"] for e in entries(box, other_company["id"])] == [made["id"]]
    assert made["id"] not in {e["subject_id"] for e in entries(box, demo["id"])}


def test_live_and_sandbox_have_their_own_logs(audited, demo):
    box, owner = audited
    box.bring_in("demo", env="test")
    made = box.make_key(env="test")
    assert [e["subject_id"] for e in audit(box, "--env", "test")["data"]] == [made["id"]]
    assert made["id"] not in {e["subject_id"] for e in audit(box, "--company", demo["id"])["data"]}


def test_older_entries_stand_on_further_pages(audited):
    box, _ = audited
    third = json.loads(OTHER.read_text())["companies"][1]["id"]
    with contextlib.closing(box.client(box.make_key(company=third)["key"])) as api:
        for i in range(104):
            accepted(api.post(KEYS, {"name": f"till {i}", "scopes": ["orders:read"]}), 201)
    first, second = audit(box, "--company", third), audit(box, "--company", third, "--page", "2")
    assert first["pagination"] == {"current_page": 1, "per_page": 100, "total": 105, "has_more": True}
    assert [e["seq"] for e in first["data"] + second["data"]] == list(range(105, 0, -1))
    text = box.command("audit", "--data", str(box.data), "--company", third).stdout
    assert "--page 2" in text.splitlines()[-1]
    assert "--page" not in box.command("audit", "--data", str(box.data), "--company", third, "--page", "2").stdout


def test_the_log_is_read_without_a_server_too(demo):
    box = Box()
    box.bring_in("demo")
    made = box.make_key()
    assert [(e["action"], e["subject_id"]) for e in audit(box)["data"]] == [("key.created", made["id"])]
    assert box.discard() == 0


@pytest.mark.parametrize("words, status, says", [
    (["--page", "0"], 2, "--page"), (["--page", "x"], 2, "--page"), (["--page", "1&per_page=2"], 2, "--page"),
    (["--company", "0192f0a0-ffff-7000-8000-00000000ffff"], 1, "no company"), (["all"], 2, "audit"),
    (["--env", "prod"], 2, "--env"), (["--verbose"], 2, "--verbose")])
def test_a_wrong_command_line_says_what_is_wrong(audited, words, status, says):
    box, _ = audited
    done = box.command("audit", "--data", str(box.data), *words, check=False)
    assert done.returncode == status and says in done.stderr and done.stdout == ""


def test_a_box_without_a_company_says_so():
    box = Box()
    done = box.command("audit", "--data", str(box.data), check=False)
    assert done.returncode == 1 and f"{box.binary.name} import" in done.stderr
    assert box.discard() == 0


def test_the_log_is_not_there_for_keys(audited):
    box, owner = audited
    with contextlib.closing(box.client(owner["key"])) as api:
        assert api.get("/control/audit").status == 404
