"""The unmodified program, its built-in files and the real names of the apps: every call that it makes is one that the app's
documents describe, and the answers that they describe lead to orders."""

import contextlib
import json
import random

import pytest

from support.box import PATIENCE_S, ROOT, Box
from support.internet import Internet, joined
from support.machine import new_machine
from support.order_app import COUNTRIES, ORDER_OF, OrderApp, built_in_files
from support.orders import accepted
from support.waiting import wait_until

ADDRESSES = {"ifood": "93.184.216.34", "99food": "93.184.216.35", "rappi": "93.184.216.36",
             "keeta": "93.184.216.37"}
OF_COUNTRY = {"BR": {"currency": "BRL", "timezone": "America/Sao_Paulo"}, "PE": {}}
ALL_DAY = {"is_active": True, "hours": [{"open": "00:00", "close": "00:00"}]}


class Market:
    """A restaurant, and apps that have their real names in its internet."""

    def __init__(self, directory, country, names):
        self.directory, self.country, self.apps = directory, country, {}
        hosts = {}
        for name in names:
            file = built_in_files()[name]
            named = file["by_country"][country].values() if "by_country" in file else file["hosts"]
            hosts |= dict.fromkeys(named, ADDRESSES[name])
        self.internet = Internet(hosts)
        self.names = {name: [host for host, address in hosts.items() if address == ADDRESSES[name]] for name in names}

    @contextlib.contextmanager
    def open(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.internet.close)
            with joined(self.internet.servers):
                for name in self.names:
                    self.apps[name] = App(self.directory, name, ADDRESSES[name], self.names[name])
                    stack.callback(self.apps[name].close)
            stack.enter_context(joined(self.internet.box))
            authorities = self.directory / "authorities.pem"
            authorities.write_text("".join(app.pair.certificate.read_text() for app in self.apps.values()))
            self.box = Box(options=["--webhook-ca", str(authorities)])
            self.box.wrapper = self.internet.box.entering
            stack.callback(self.box.discard)
            file = json.loads((ROOT / "src/app/demo.json").read_text())
            hours = dict.fromkeys(file["companies"][0]["business_hours"], ALL_DAY)
            file["companies"][0] |= {"country_code": self.country, "business_hours": hours} | OF_COUNTRY[self.country]
            (self.directory / "restaurant.json").write_text(json.dumps(file))
            self.box.bring_in(self.directory / "restaurant.json")
            self.key = self.box.make_key()["key"]
            self.box.start()
            self.api = stack.enter_context(contextlib.closing(self.box.client(self.key)))
            self.orders()
            for name, app in self.apps.items():
                app.add(self.box)
            yield self
        for app in self.apps.values():
            assert app.refused == [], app.refused

    def orders(self):
        rows, page = [], 1
        while True:
            answer = self.api.get(f"/v1/orders?per_page=100&page={page}")
            rows += accepted(answer)
            if not answer.json["pagination"]["has_more"]:
                return [order for order in rows if order["source"] != "API"]
            page += 1

    def wait(self, condition):
        def is_true():
            value = condition()
            if not value:
                OrderApp.hurry(self.box)
            return value

        return wait_until(is_true, lambda: self.box.log_text()[-4000:], PATIENCE_S * 4)


class App(OrderApp):
    """At the names that it has in that country."""

    def __init__(self, directory, name, address, names):
        self.names = names
        super().__init__(directory, name, address)

    def hosts(self):
        return self.names


@pytest.mark.parametrize("name", ["ifood", "99food", "keeta", "rappi"])
def test_the_built_in_file_reaches_the_app_by_its_real_name(tmp_path, name):
    with Market(tmp_path, COUNTRIES[name], [name]).open() as market:
        app = market.apps[name]
        tried = market.box.command("provider", "try", name, "--data", str(market.box.data))
        assert tried.stdout.startswith("OPEN"), tried.stdout
        app.mode(market.box, "primary")
        identity = app.place(ORDER_OF[name](1))
        order = market.wait(market.orders)[0]
        market.wait(lambda: app.told)
        market.api.advance(order, "READY")
        market.wait(lambda: len(app.told) >= 2)
        assert {told[0] for told in app.told} == {identity}


def test_data_that_another_machine_served_ask_no_app_until_they_are_resumed(tmp_path):
    with Market(tmp_path, "BR", ["ifood"]).open() as market:
        app, box, there = market.apps["ifood"], market.box, new_machine()
        app.mode(box, "primary", "--presence", "always")
        market.wait(lambda: app.polls)
        box.stop()
        box.wrapper = [*market.internet.box.entering, *there.words]
        app.polls.clear()
        app.place(ORDER_OF["ifood"](1))
        box.start()
        app.let_work(box)
        assert app.polls == [] and "another machine" in json.dumps(market.api.get("/readyz").json)
        box.command("resume", "--data", str(box.data))
        market.wait(market.orders)


def test_a_day_of_three_apps_beside_tills_ends_equal_on_both_sides(tmp_path, seed):
    """300 orders that live at random: events twice and in disorder, answers that fail, orders cancelled, tills between."""
    chance = random.Random(seed)
    with Market(tmp_path, "BR", ["ifood", "99food", "rappi"]).open() as market:
        for name, app in market.apps.items():
            app.mode(market.box, "primary", "--presence", "always")
        fates = {}
        for number in range(1, 301):
            name = chance.choice(["ifood", "99food", "rappi"])
            app = market.apps[name]
            with app.lock:
                for step in ("confirm", "acknowledgment", "events:polling", "orders"):
                    if chance.random() < 0.02:
                        app.answers.setdefault(step, []).append(chance.choice([500, 503]))
            identity = app.place(ORDER_OF[name](number))
            fates[(name, identity)] = chance.choices(["concluded", "cancelled", "open"], [6, 2, 2])[0]
            if number % 3 == 0:
                market.api.place()
            if number % 50 == 0:
                OrderApp.hurry(market.box)
        market.wait(lambda: len(market.orders()) == 300)
        market.wait(lambda: all(order["status"] == "PREPARING" for order in market.orders()))
        for (name, identity), fate in fates.items():
            app = market.apps[name]
            if name == "rappi":
                if fate == "cancelled":
                    market.box.command("provider", "cancelled", "rappi", identity, "--data", str(market.box.data))
                continue
            codes = {"concluded": ["RTP", "CON"], "cancelled": ["CAN"], "open": ["RTP"]}[fate]
            if name == "99food":
                codes = [{"RTP": "READY_FOR_PICKUP", "CON": "CONCLUDED", "CAN": "CANCELLED"}[code] for code in codes]
            with app.lock:
                chance.shuffle(codes)
                for code in codes * chance.choice([1, 2]):
                    app.tell(identity, code)
        titles = {}
        for (name, identity), fate in fates.items():
            app = market.apps[name]
            order = app.orders[identity]
            display = identity if name == "rappi" else order["displayId"]
            titles[f"{app.built_in()['display_name']} {display}"] = {
                "concluded": "PREPARING" if name == "rappi" else "FINALIZED", "cancelled": "CANCELLED",
                "open": "PREPARING" if name == "rappi" else "READY"}[fate]
        market.wait(lambda: {order["order_title"]: order["status"] for order in market.orders()} == titles)
        for order in market.orders():
            assert order["total"] == (50.8 if order["source"] == "RAPPI" else 60.8)
            assert order["paid"] == (order["status"] != "CANCELLED")
        assert json.loads(market.box.command("provider", "parked", "--json", "--data", str(market.box.data)).stdout)["data"] == []
        for name in ("ifood", "99food"):
            assert market.apps[name].queue == [], "every event is acknowledged"
