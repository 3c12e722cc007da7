"""A restaurant whose orders come from a delivery app, too."""

import contextlib
import json

from support.box import ROOT, Box
from support.order_app import OrderApp
from support.orders import accepted
from support.waiting import wait_until

PIZZA = {"name": "Pizzas", "products": [
    {"id": "0192f0a0-0070-7000-8000-0000000000f1", "name": "Pizza grande", "variants": [
        {"id": "0192f0a0-0071-7000-8000-0000000000f1", "name": "Grande", "sku": "PZ-G", "price": 20}],
     "modifier_categories": [{"name": "Bordas", "type": "many", "modifiers": [
         {"id": "0192f0a0-0072-7000-8000-0000000000f1", "name": "Catupiry", "sku": "B1", "price": 3.5}]}]}]}


class Restaurant:
    """A box in the app's country, with a menu that has a pizza; and the app."""

    def __init__(self, directory, name):
        self.app = OrderApp(directory, name)
        file = json.loads((ROOT / "src/app/demo.json").read_text())
        company = file["companies"][0]
        if name != "rappi":
            company |= {"country_code": "BR", "currency": "BRL", "timezone": "America/Sao_Paulo"}
        company["categories"] = [*company["categories"], PIZZA]
        (directory / "restaurant.json").write_text(json.dumps(file))
        self.box = Box(options=["--webhook-networks", "127.0.0.0/8,::1/128", "--webhook-ca", str(self.app.pair.certificate)])
        self.box.bring_in(directory / "restaurant.json")
        self.key = self.box.make_key()["key"]
        self.app.connect(self.box)

    def start(self, mode="primary", *options):
        self.box.start()
        self.app.add(self.box)
        self.api = self.box.client(self.key)
        self.look()
        self.app.mode(self.box, mode, *options)
        return self

    def look(self):
        """A display looks, so that orders are seen."""
        return accepted(self.api.get("/v1/orders?per_page=100"))

    def hurry(self):
        """Everything is due."""
        self.app.hurry(self.box)

    def let_work(self):
        self.app.let_work(self.box)

    def orders(self):
        return [order for order in self.look() if order["source"] == self.app.name.upper()]

    def wait(self, condition, hurry=True):
        """Returns the condition's value once it is true. `hurry`: calls that are delayed are made due meanwhile."""
        def is_true():
            value = condition()
            if not value and hurry:
                self.hurry()
            return value

        return wait_until(is_true, lambda: (self.app.refused, self.app.told, self.box.log_text()[-4000:]))

    def placed(self, count=1):
        return self.wait(lambda: (orders := self.orders()) and len(orders) == count and orders)

    def order(self, identity):
        return accepted(self.api.get(f"/v1/orders/{identity}"))

    def wait_status(self, identity, status):
        return self.wait(lambda: (order := self.order(identity))["status"] == status and order)

    def command(self, *words, check=True):
        return self.box.command("provider", *words, "--data", str(self.box.data), check=check)

    def parked(self):
        return json.loads(self.command("parked", "--json").stdout)["data"]

    def restart(self, kill=False):
        self.box.kill() if kill else self.box.stop()
        self.api.close()
        self.box.start()
        self.api = self.box.client(self.key)
        self.look()

    def close(self):
        with contextlib.suppress(AttributeError):
            self.api.close()
        self.box.kill_if_running()
        self.box.discard()
        self.app.close()
