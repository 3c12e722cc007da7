"""A box and its cloud with a failing line between them (support/cutting_proxy.py), and the comparison of what both have.

    with Pair(tmp_path, seed) as pair:
        pair.link()
        order = pair.till().serve()
        pair.settle()
        pair.compare()

The cloud is a second Comanda, or the strict imitation (support/strict_cloud.py). It has the same restaurant under ids of its
own, except tables, whose ids the specification lets nobody read."""

import contextlib
import json
import time
import uuid

from support.box import PATIENCE_S, Box
from support.cloud_tills import CloudTill
from support.cutting_proxy import CuttingProxy
from support.exact import to_json
from support.strict_cloud import StrictCloud, demo_company
from support.waiting import wait_until_passes

# Requests a minute of a key of the tier lan, so that the pace does not decide how long a test takes.
RATE = 60_000
POLL_EVERY_S = 5
BOX_OPTIONS = ["--sandbox-listen", "", "--rate-lan", str(RATE), "--cloud-poll-seconds", str(POLL_EVERY_S)]
CLOUD_OPTIONS = ["--sandbox-listen", "", "--rate-lan", str(RATE)]
ALL_SCOPES = "all,orders:sync"
PROVIDER = "plataforma"  # the strict cloud's name for the provider whose riders are users of the company
PAUSE_S = 0.05
STILL_S = 0.5  # the box waits after a failure


def own_ids(company):
    """The company with every id replaced by another, except those of tables."""
    known = {}

    def renamed(value, name=""):
        if isinstance(value, dict):
            return {k: v if name == "tables" and k == "id" else renamed(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [renamed(v, name) for v in value]
        if name == "id" or name.endswith("_id"):
            return known.setdefault(value, str(uuid.uuid4()))
        return value

    return renamed(company)


# Comparison

ORDER_FIELDS = ["reference", "status", "service_type", "source", "country_code", "timezone", "currency", "comment",
                "order_title", "delivery_comment", "scheduled_delivery_date", "cancel_reason", "delivery_status",
                "delivery_status_reason", "delivered_by", "subtotal", "total_discounts", "delivery_price", "packaging_price",
                "total_tips", "total", "total_paid", "pending_amount", "overpayment", "paid"]
COMBO_FIELDS = ["product_name", "variant_name", "sku", "quantity", "comment", "variant_price", "variant_original_price",
                "modifiers_price", "combo_price", "combo_original_price"]
MODIFIER_FIELDS = ["name", "quantity", "price", "original_price"]
PAYMENT_FIELDS = ["amount", "tip_amount", "received_amount", "change_amount", "reference", "comment"]
DISCOUNT_FIELDS = ["type", "value", "amount", "reason"]
RIDER_FIELDS = ["name", "phone_number", "country_calling_code"]


def essence(record, with_dates=False):
    """What both sides must agree on: everything but ids and what each counts for itself. Rows with the same content are
    interchangeable, so that which of two equal payments is cancelled does not matter: dates are compared on their own."""
    def rows_of(name, fields, more=lambda row: {}):
        found = [{**{f: row[f] for f in fields}, **more(row), "is_cancelled": bool(row.get("canceled_at"))}
                 for row in record[name]]
        return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))

    def modifiers(combo):
        return {"modifiers": [{f: m[f] for f in MODIFIER_FIELDS} for m in combo["modifiers"]],
                "is_linked": (combo["product_id"] is not None, combo["variant_id"] is not None)}

    rider = record["rider"]
    return {**{f: record[f] for f in ORDER_FIELDS}, "rider": rider and {f: rider[f] for f in RIDER_FIELDS},
            "references": [record[f] is not None for f in ("client_id", "table_id", "address_id")],
            "combos": rows_of("combos", COMBO_FIELDS, modifiers),
            "payments": rows_of("payments", PAYMENT_FIELDS, lambda p: {"code": p["payment_method"]["code"]}),
            "discounts": rows_of("discounts", DISCOUNT_FIELDS), **(dates_of(record) if with_dates else {})}


def dates_of(record):
    dates = {"created_at": record["created_at"], "business_day": record["business_day"]}
    for name in ("combos", "payments", "discounts"):
        for date in ("created_at", "canceled_at"):
            dates[f"{name}.{date}"] = sorted(row[date] for row in record[name] if row.get(date))
    return dates


def difference(box, cloud):
    """{field: (the box's, the cloud's)} of two essences."""
    return {f: (box[f], cloud[f]) for f in box if box[f] != cloud[f]}


# The pair


class Pair:
    """`strict`: the cloud is the imitation. `currency`: of both sides. `rate`: how often the line fails. `is_empty`: the box
    gets its restaurant when it is linked. `kind`: of both servers; the box has SQLite, the cloud what COMANDA_ENGINE says.
    `company_there`: the cloud's restaurant, with its ids."""

    def __init__(self, directory, seed=0, strict=False, currency="PEN", rate=0.0, is_empty=False, kind=Box, tier="lan",
                 cloud_options=(), cloud_scopes=ALL_SCOPES, start=True, company_there=None):
        self.directory, self.seed, self.is_strict = directory, seed, strict
        company = demo_company(currency)
        for table in company["tables"]:
            table.setdefault("id", str(uuid.uuid4()))
        (directory / "box").mkdir()
        self.box = kind(directory / "box", [*BOX_OPTIONS, *(["--cloud-rider-provider", PROVIDER] if strict else [])],
                        engine="sqlite")
        if not is_empty:
            self.bring_in(self.box, company)
        theirs = company_there or own_ids(company)
        (directory / "proxy").mkdir()
        if strict:
            (directory / "cloud").mkdir()
            self.cloud = StrictCloud(theirs, directory / "cloud", provider=PROVIDER)
            self.cloud_key = self.cloud.make_key()
        else:
            (directory / "cloud").mkdir()
            self.cloud = kind(directory / "cloud", [*CLOUD_OPTIONS, *cloud_options])
            self.bring_in(self.cloud, theirs)
            self.cloud_key = self.cloud.make_key(scopes=cloud_scopes, tier=tier, name="box")["key"]
        self.proxy = CuttingProxy(self.cloud, directory / "proxy", seed, rate)
        self.key = None if is_empty else self.box.make_key()["key"]
        self.tills = []
        if not start:
            return
        self.box.start()
        if not strict:
            self.cloud.start()

    def bring_in(self, box, company):
        file = self.directory / f"{box.data.name}.json"
        file.write_text(json.dumps({"companies": [company]}))
        box.bring_in(file)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for till in self.tills:
            till.close()
        self.proxy.close()
        if self.is_strict:
            self.cloud.close()
        for server in [self.box] + [self.cloud] * (not self.is_strict):
            if kind:
                server.kill_if_running()  # the test has failed already
            else:
                assert server.stop() == 0, server.log_text()[-3000:]

    # The command line.
    def command(self, *words, check=True):
        return self.box.command("cloud", *words, "--data", str(self.box.data), check=check)

    def link(self, *words, check=True, names_zone=None):
        """`names_zone`: in the way that a cloud needs whose company tells no zone, as the specification's."""
        if self.is_strict if names_zone is None else names_zone:
            words = [*words, "--timezone", "America/Lima", "--country", "PE"]
        key_file = self.directory / "cloud.key"
        key_file.write_text(self.cloud_key + "\n")
        key_file.chmod(0o600)
        result = self.command("link", "--url", self.proxy.url, "--key-file", str(key_file), "--ca-file",
                              str(self.proxy.cafile), *words, check=check)
        if self.key is None and result.returncode == 0:
            self.key = self.box.make_key()["key"]
        return result

    def status(self):
        """What `comanda cloud status` says; its exit code says the same."""
        result = self.command("status", "--json", check=False)
        assert result.returncode in (0, 1), (result.returncode, result.stdout, result.stderr)
        status = json.loads(result.stdout)
        assert (result.returncode == 0) == (status["state"] == "in step"), (result.returncode, status)
        return status

    def parked(self):
        return json.loads(self.command("parked", "--json").stdout)["data"]

    def differences(self):
        return json.loads(self.command("differences", "--json").stdout)["data"]

    # Tills.
    def till(self, name="till"):
        till = CloudTill(self.box, self.key, self.seed, name).look_around()
        self.tills.append(till)
        return till

    def client(self):
        """A client of the box with all scopes."""
        return self.box.client(self.key)

    def acknowledged(self):
        return {id: record for till in self.tills for id, record in till.orders.items()}

    # Waiting.
    def settle(self, parked=0, timeout_s=PATIENCE_S):
        """Waits until nothing is left to be sent; its status. A wait of the box after failures is ended by `resume`.
        `timeout_s`: the longest time without progress."""
        moved_at = resumed_at = time.monotonic()
        waiting = None
        while True:
            is_done = self.left_to_do() == 0
            status = self.status()
            assert status["orders_parked"] <= parked, (status, self.parked())
            # The journal is read first: what is planned since then makes the state "behind".
            waits = status["steps_waiting"] or status["unread"] or status["is_scanning"]
            is_there = status["state"] == ("behind" if parked else "in step") and not waits
            if is_done and is_there and status["orders_parked"] == parked:
                return status
            now = time.monotonic()
            if status["steps_waiting"] != waiting:
                waiting, moved_at = status["steps_waiting"], now
            assert now - moved_at < timeout_s, (f"seed {self.seed}", status, self.parked(), self.box.log_text()[-3000:])
            if now - max(moved_at, resumed_at) > STILL_S:
                self.command("resume", check=False)
                resumed_at = now
            time.sleep(PAUSE_S)

    def left_to_do(self):
        """Events that were not looked at yet, and requests that are still to be made, except of parked orders."""
        unplanned = self.box.value("SELECT event_seq - planned_seq FROM company_counter JOIN cloud_link USING (company_id)")
        return unplanned + self.box.value("SELECT coalesce(sum(waiting), 0) FROM cloud_order WHERE parked = ''")

    def eventually(self, check, timeout_s=PATIENCE_S):
        """Repeats a check that fails while the box is not yet where it should be."""
        return wait_until_passes(check, timeout_s)

    # Both sides.
    def cloud_records(self):
        """All orders of the cloud."""
        if self.is_strict:
            with self.cloud.lock:
                return [json.loads(to_json(o.record(), shortest=True)) for o in self.cloud.orders.listed(descending=False)]
        with contextlib.closing(self.cloud.client(self.cloud_key)) as client:
            return all_orders(client)

    def box_records(self):
        with contextlib.closing(self.client()) as client:
            return all_orders(client)

    def record_here(self, order):
        """The box's record of an order."""
        with contextlib.closing(self.client()) as client:
            return client.get("/v1/orders/" + order["id"]).data

    def record_there(self, order):
        """The cloud's record of an order of the box."""
        found = [r for r in self.cloud_records() if r["reference"] == order["reference"]]
        assert len(found) == 1, (order["reference"], len(found))
        return found[0]

    def restore(self, backup):
        """As a technician does: stop, restore, start, and let it send."""
        assert self.box.stop() == 0
        self.box.command("restore", str(backup), "--data", str(self.box.data), "--yes")
        self.box.start()
        self.command("resume", check=False)

    def require_equal(self, box, cloud, with_dates):
        """Each order of the box that is meant to be there is in the cloud once, and equal."""
        wrong = []
        there = {}
        for record in cloud:
            there.setdefault(record["reference"], []).append(record)
        for record in box:
            found = there.get(record["reference"], [])
            if len(found) != 1:
                wrong.append((record["reference"], f"{len(found)} times in the cloud"))
            else:
                differs = difference(essence(record, with_dates), essence(found[0], with_dates))
                if differs:
                    wrong.append((record["reference"], differs))
        assert not wrong, (f"seed {self.seed}", len(wrong), wrong[:3])

    def compare(self, without=(), with_dates=None):
        """Each acknowledged order is in the cloud once and equal, and nothing else is; `without`: ids of parked orders."""
        with_dates = not self.is_strict if with_dates is None else with_dates
        box, cloud = self.box_records(), self.cloud_records()
        ids = {record["id"] for record in box}
        assert set(self.acknowledged()) <= ids
        self.require_equal([r for r in box if r["id"] not in without], cloud, with_dates)
        assert len(cloud) == len(box), (f"seed {self.seed}", sorted({r["reference"] for r in cloud}
                                                                   ^ {r["reference"] for r in box}, key=str))
        self.proxy.require_steady_keys()
        assert self.box.value("SELECT count(*) FROM cloud_step") == 0 or without

    def require_in_step(self):
        self.settle()
        self.eventually(self.compare)


def all_orders(client):
    """Every order of a Comanda, oldest first."""
    return client.all("/v1/orders?sort=created_at")
