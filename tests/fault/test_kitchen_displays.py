"""A station whose last display is frozen, off, or behind a line that fails: within 40 s everybody is told who can do something
about it, and it ends with the display's return (contract section 20). Not where no display was ever used."""

import contextlib
import datetime
import json
import re

import pytest

from support.box import Box
from support.kitchen_screen import Line, Screen
from support.metrics import of_box
from support.orders import accepted
from support.waiting import PATIENCE_S, wait_until

PROMISED_S = 40
# What becomes of each display; those that keep up with it, although slowly, are no trouble.
TROUBLES = ["frozen", "killed", "cut", "silent", "drip"]
SOUND = ["delay", "pass"]
UNWATCHED = 'comanda_kitchen_stations_unwatched{database="live"}'


@pytest.fixture
def box():
    box = Box(options=["--sandbox-listen", ""])
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0


def order_for_each(api, names):
    """{name: its station}, each with a dish that waits."""
    found = {}
    category = accepted(api.get("/v1/menu"))["categories"][0]["id"]
    for name in names:
        station = accepted(api.post("/v1/kitchen/stations", {"name": name}), 201)["id"]
        dish = accepted(api.post("/v1/menu/products", {"name": f"Plato de {name}", "category_id": category, "price": 9,
                                                       "kitchen_id": station}), 201)
        api.add(api.place(), {"product_id": dish["id"], "variant_id": dish["variants"][0]["id"], "quantity": 1, "variant_price": 9})
        found[name] = station
    return found


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_a_station_that_nobody_watches_any_more_is_told_within_forty_seconds_and_until_somebody_does(box):
    key = box.make_key(scopes="all,admin:read,admin:write")["key"]
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(contextlib.closing(box.client(key)))
        at = order_for_each(api, [*TROUBLES, *SOUND, "nobody"])
        lines = {name: Line(box.port) for name in (*TROUBLES, *SOUND)}
        for line in lines.values():
            stack.callback(line.close)

        def screen(name):
            return stack.enter_context(Screen(box, key, name, at[name], lines[name].port))

        screens = {name: screen(name) for name in lines}

        def rows():
            return {row["name"]: row for row in accepted(api.get("/v1/kitchen/stations?per_page=100"))}

        def watched(names):
            return all([d["display"] for d in rows()[name]["displays"]] == [name] for name in names)

        def told():
            """What a display of another station is told."""
            return {alert["name"]: alert["since"] for alert in api.get(
                f"/v1/kitchen/changes?display=otra&stations={at['pass']}").json["alerts"] if alert["kind"] == "station_unwatched"}

        def kitchen():
            with contextlib.closing(box.client()) as nobody:
                answer = nobody.get("/readyz")
            assert answer.status == 200, "selling does not depend on it"
            return answer.json["checks"].get("kitchen", {"ok": True, "state": ""})

        wait_until(lambda: watched(lines), rows)
        assert told() == {} and of_box(box)[UNWATCHED] == 0

        broken_at = datetime.datetime.now(datetime.timezone.utc)
        screens["frozen"].freeze()
        screens["killed"].process.kill()
        for name in ("cut", "silent", "drip", "delay"):
            lines[name].set(name)
        wait_until(lambda: set(told()) == set(TROUBLES), told, PROMISED_S + PATIENCE_S)
        shown = rows()
        for name in TROUBLES:
            since = instant(shown[name]["unwatched_since"])
            assert (since - broken_at).total_seconds() <= PROMISED_S, (name, since, broken_at)
            assert shown[name]["displays"] == [] and told()[name] == shown[name]["unwatched_since"]
        assert [name for name in (*SOUND, "nobody") if shown[name]["unwatched_since"]] == []
        assert kitchen()["ok"] is True and f"{len(TROUBLES)} stations" in kitchen()["state"], kitchen()
        assert of_box(box)[UNWATCHED] == len(TROUBLES)
        for name in TROUBLES:
            box.wait_for_log(f"no display watches it station={name}")

        # It ends with the display's return.
        screens["frozen"].thaw()
        screens["killed"] = screen("killed")
        for name in ("cut", "silent", "drip", "delay"):
            lines[name].set("pass")
        wait_until(lambda: told() == {}, told, PROMISED_S + PATIENCE_S)
        wait_until(lambda: watched(lines), rows)
        assert not any(row["unwatched_since"] for row in rows().values())
        assert "stations" not in kitchen()["state"], kitchen()
        assert of_box(box)[UNWATCHED] == 0


def test_doctor_is_well_while_nothing_is_to_be_done_yet_and_says_what_is_so(box):
    key = box.make_key(scopes="all,admin:read,admin:write")["key"]

    def kitchen():
        result = box.command("doctor", "--data", str(box.data), "--json", check=False)
        return next(one for one in json.loads(result.stdout)["findings"] if one["check"] == "kitchen")

    def readiness():
        with contextlib.closing(box.client()) as nobody:
            return nobody.get("/readyz").json["checks"]["kitchen"]["state"]

    assert kitchen()["what"] == "No display of the kitchen is used."
    with contextlib.closing(box.client(key)) as api:
        station = order_for_each(api, ["horno"])["horno"]
        with Screen(box, key, "horno", station):
            wait_until(lambda: of_box(box)['comanda_kitchen_displays{database="live"}'] == 1, readiness)
            assert readiness() == "1 display is present" and kitchen()["what"] == "The kitchen: 1 display is present."
        wait_until(lambda: of_box(box)[UNWATCHED] == 1, readiness, PROMISED_S + PATIENCE_S)
        wait_until(lambda: readiness().startswith("0 displays are present; 1 station has dishes"), readiness)
        found = kitchen()
        assert found["state"] == "well", found
        assert re.match(r"1 station of the kitchen has dishes to make that no display shows(, since less than a minute; the other "
                        r"displays say so\. Nothing is to be done here before it is an hour|; the restaurant is closed)\.$",
                        found["what"]), found


def test_where_no_display_was_ever_used_nothing_is_told(box):
    """For as long as it takes elsewhere: a display of a key without a name counts for nobody."""
    key = box.make_key(scopes="all,admin:read,admin:write")["key"]
    with contextlib.closing(box.client(key)) as api:
        order_for_each(api, ["horno"])
        begin = datetime.datetime.now(datetime.timezone.utc)
        while (datetime.datetime.now(datetime.timezone.utc) - begin).total_seconds() < PROMISED_S:
            assert api.get("/v1/kitchen/changes?after=" + api.get("/v1/kitchen/tickets").headers["x-event-cursor"],
                           Prefer="wait=8").json["alerts"] == []
        assert not any(row["unwatched_since"] for row in accepted(api.get("/v1/kitchen/stations?per_page=100")))
        with contextlib.closing(box.client()) as nobody:
            assert "kitchen" not in nobody.get("/readyz").json["checks"]
        assert of_box(box)[UNWATCHED] == 0
