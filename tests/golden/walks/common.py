"""What the walks share: who asks, and the ids of the demo restaurant."""

import datetime

from support.box import ROOT
from support.routes import SOME_ID

DEMO = "0192f0a0-0001-7000-8000-000000000001"
OTHER = "0c1e0000-0000-4000-8000-000000000001"
KUWAIT = "0e3a0000-0000-4000-8000-000000000001"
OTHER_FILE = ROOT / "tests/support/other_restaurant.json"
TABLE = "0192f0a0-0030-7000-8000-000000000001"
CLIENT, ADDRESS = "0192f0a0-0050-7000-8000-000000000001", "0192f0a0-0060-7000-8000-000000000001"
RIDER, RIDER_WHO_LEFT = "0192f0a0-0040-7000-8000-00000000000a", "0192f0a0-0040-7000-8000-00000000000c"
PRODUCT, VARIANT = "0192f0a0-0070-7000-8000-000000000001", "0192f0a0-0071-7000-8000-000000000011"
CASH = "0192f0a0-0010-7000-8000-000000000001"
NOBODY = SOME_ID
CARD_NUMBER = "4111111111111111"


def demo(r):
    """The box with the demo restaurant and an owner who may do everything."""
    r.box.bring_in("demo")
    r.client("owner", r.box.make_key(company=DEMO, name="owner")["key"])
    r.box.start()
    r.client("nobody")


def in_days(days):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def days_around(names):
    """Yesterday and tomorrow as the restaurant counts days, which the requests then show by name."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    found = []
    for name, days in (("{two days ago}", -2), ("{in two days}", 2)):
        day = (today + datetime.timedelta(days=days)).isoformat()
        names.known[day] = name
        found.append(day)
    return found


def item(price=10, quantity=1, name="Ceviche", **fields):
    return {"product_name": name, "quantity": quantity, "variant_price": price, **fields}
