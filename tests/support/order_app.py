"""A delivery app with orders on localhost, in the protocols that the box speaks. It knows what the apps' documents
describe and refuses everything else, so that no call can be invented: `refused` lists what it did not know.

What each behaviour rests on: tests/apps/facts.md."""

import base64
import contextlib
import hashlib
import hmac
import json
import re
import socket
import struct
import threading
import time
import urllib.parse
import uuid

from support.box import ROOT
from support.https_server import Handler, HttpsServer
from support.metrics import let_work, passes_begun
from support.openssl import make_pair

SECRET = "planted-secret-of-the-orders-7d21"
CREDENTIALS = {
    "ifood": {"client_id": "c", "client_secret": SECRET, "merchant_id": "m-1"},
    "99food": {"app_id": "5764", "app_secret": SECRET, "app_shop_id": "shop1"},
    "keeta": {"client_id": "c", "client_secret": SECRET, "merchant_id": "m-1"},
    "rappi": {"client_id": "c", "client_secret": SECRET, "store_id": "900"}}
DIALECTS = {"ifood": "ifood", "99food": "open_delivery", "keeta": "keeta", "rappi": "rappi"}
COUNTRIES = {"ifood": "BR", "99food": "BR", "keeta": "BR", "rappi": "PE"}
STEPS = {"ifood": {"confirm": "CFM", "startPreparation": "PRS", "readyToPickup": "RTP", "dispatch": "DSP"},
         "open_delivery": {"confirm": "CONFIRMED", "readyForPickup": "READY_FOR_PICKUP", "dispatch": "DISPATCHED"}}
STEPS["keeta"] = STEPS["open_delivery"]


def built_in_files():
    """What the program knows of each app that can be asked, each as a file of its own."""
    files = {}
    for path in (ROOT / "src/delivery/apps").glob("*.json"):
        file = json.loads(path.read_text()) if path.stem != "not_supported" else {"providers": []}
        for app in file.pop("providers", [{}]):
            files[(file | app)["provider_name"]] = file | app
    return files


# What is no whole answer


def hangs(request):
    """Until the client has gone."""
    with contextlib.suppress(OSError):
        request.rfile.read(1)


def cuts(request):
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")


def resets(request):
    """Refuses the connection, as far as that is possible for one request of many."""
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def garbage(request):
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\xff\x00<br>")


FAILURES = {"5xx": 503, "4xx": 409, "timeout": hangs, "cut": cuts, "refused": resets, "garbage": garbage}


class OrderApp:
    """One app with its queue of events, or its list of new orders. On localhost, where a file of providers.d leads to it
    (connect()); with `address`, there on port 443, under the app's own names."""

    def __init__(self, directory, name, address=None):
        self.name, self.dialect, self.address = name, DIALECTS[name], address
        self.pair = make_pair(directory, name, hosts=self.hosts() if address else ["localhost"])
        self.lock = threading.Lock()
        self.orders, self.queue, self.acknowledged = {}, [], []
        self.noise = []  # what is no event, in each answer to a poll
        self.new, self.sent = [], []  # Rappi: ids of orders
        self.told = []  # (order, step)
        self.polls, self.details_asked, self.refused, self.tokens = [], [], [], 0
        self.present = 0  # polls that showed the store as open
        # (method, path) or step: how it is answered, once for each item of the list: with a status, or by a function of
        # the request, such as hangs(); None: no answer comes
        self.answers = {}
        self.decrypted = None  # Keeta: what it answers when it is asked for plain texts
        self.echoes = True  # a step that was told comes back as an event
        self.at_call = {}  # the last word of a path: a function to be called once, before or after the answer is made
        app = self

        class Asked(Handler):
            def handle_request(self, body):
                app.handle(self, body)

        self.server = HttpsServer(Asked, self.pair, 443, address) if address else HttpsServer(Asked, self.pair)

    def hosts(self):
        """The app's names in its country."""
        file = self.built_in()
        return list(file["by_country"][COUNTRIES[self.name]].values()) if "by_country" in file else file["hosts"]

    # The box's side

    @property
    def url(self):
        return f"https://localhost:{self.server.server_port}"

    def file(self):
        """What replaces the built-in file: the same calls, to this server."""
        text = json.dumps(self.built_in())
        for host in self.built_in()["hosts"]:
            text = text.replace(f"https://{host}", self.url)
        file = json.loads(re.sub(r"https://\$\{\w+\}", self.url, text))
        for member in ("by_country", "variables", "status"):
            file.pop(member, None)
        return {**file, "hosts": ["localhost"]}

    def built_in(self):
        return built_in_files()[self.name]

    def connect(self, box):
        """Before the server starts."""
        directory = box.data / "providers.d"
        directory.mkdir(exist_ok=True)
        (directory / f"{self.name}.json").write_text(json.dumps(self.file()))

    def add(self, box):
        box.command("provider", "add", self.name, "--from", "-", "--data", str(box.data),
                    input=json.dumps(CREDENTIALS[self.name]))

    def mode(self, box, mode, *options, check=True):
        return box.command("provider", "mode", self.name, mode, *options, "--data", str(box.data), check=check)

    @staticmethod
    def hurry(box):
        """Every call of the box that is delayed is due."""
        box.command("provider", "retry", "all", "--data", str(box.data))

    def is_followed(self, box):
        return passes_begun(box, self.worker) is not None

    def let_work(self, box):
        """Waits until the box has done all that it would do for this app now: an order takes three passes from the app's
        queue to the step that is told of it."""
        let_work(box, self.worker, lambda: self.hurry(box), passes=3)

    @property
    def worker(self):
        return f"orders of {self.name} "

    # The customers' side

    def place(self, order, tells=True):
        """A customer orders. `order` is as the app shows it (order_of)."""
        with self.lock:
            identity = self.id_of(order)
            self.orders[identity] = order
            if self.dialect == "rappi":
                self.new.append(identity)
            elif tells:
                self.tell(identity, "PLC" if self.dialect == "ifood" else "CREATED")
        return identity

    def id_of(self, order):
        return order["order_detail"]["order_id"] if self.dialect == "rappi" else order["id"]

    def tell(self, identity, code, **metadata):
        """Puts an event into the queue. With the lock, or before the server is asked."""
        number = len(self.queue) + len(self.acknowledged)
        at = f"2026-11-25T12:{number // 60 % 60:02}:{number % 60:02}.5Z"
        event = {"orderId": identity, "createdAt": at, "metadata": metadata}
        if self.dialect == "ifood":
            event |= {"id": str(uuid.uuid4()), "code": code, "fullCode": code, "merchantId": "m-1"}
        else:
            event |= {"eventId": str(uuid.uuid4()), "eventType": code, "orderURL": f"{self.url}/v1/orders/{identity}"}
        self.queue.append(event)
        return event

    # Requests

    def handle(self, request, body):
        word = urllib.parse.urlsplit(request.path).path.rsplit("/", 1)[-1]
        word = "details" if word in self.orders else word
        before, after = self.at_call.pop(word, (None, None))
        if before:
            before()
        with self.lock:
            status, answer = self.answer(request, body)
        if after:
            after()
        if callable(status):
            status(request)
            request.close_connection = True
            return
        if status is None:
            request.close_connection = True
            return
        data = b"" if answer is None else json.dumps(answer).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(data)))
        if status == 429:
            request.send_header("Retry-After", "900")
        request.end_headers()
        request.wfile.write(data)

    def answer(self, request, body):
        url = urllib.parse.urlsplit(request.path)
        method, path = request.command, url.path
        planned = self.answers.get((method, path)) or self.answers.get(path.rsplit("/", 1)[-1])
        if planned:
            return planned.pop(0), {"message": "planned"}
        if path == self.token_path():
            return self.give_token(method, body)
        if state := self.answer_status(method, path, url.query, request.headers, body):
            return state
        header = "x-authorization" if self.dialect == "rappi" else "Authorization"
        if request.headers[header] != f"Bearer token-{self.tokens}":
            return 401, {"message": "no token"}
        answer = getattr(self, "answer_" + self.dialect)(method, path, url.query, request.headers, body)
        if answer is None:
            self.refused.append((method, request.path))
            return 404, {"message": "no such call"}
        return answer

    def answer_status(self, method, path, query, headers, body):
        """The calls by which the store's state is asked for. The store is open."""
        if (method, path) == ("GET", "/merchant/v1.0/merchants/m-1/status") and self.dialect == "ifood":
            return 200, [{"operation": "DELIVERY", "salesChannel": "ifood-app", "available": True, "state": "OK",
                          "validations": [{"id": "opening-hours", "state": "OK"}], "message": {"title": "Loja aberta"}}]
        if self.dialect == "open_delivery" and (method, path) == ("GET", "/v1/auth/authtoken/get"):
            is_good = dict(urllib.parse.parse_qsl(query)) == CREDENTIALS["99food"]
            return (200, {"errno": 0, "data": {"auth_token": "state", "token_expiration_time": int(time.time()) + 3600}}
                    ) if is_good else (200, {"errno": 10101, "errmsg": "no"})
        if self.dialect == "open_delivery" and (method, path, query) == ("GET", "/v1/shop/shop/detail", "auth_token=state"):
            return 200, {"errno": 0, "data": {"biz_status": 1, "sub_biz_status": 1}}
        if self.dialect == "keeta" and (method, path) == ("GET", "/api/open/opendelivery/v1/merchant/m-1/status"):
            is_known = re.fullmatch(r"Bearer token-\d+", headers["Authorization"] or "")
            if not is_known or not self.is_signed(path, query, headers, body):
                return 401, {"title": "Invalid signature"}
            return 200, {"status": "AVAILABLE", "services": [], "merchantSourceAppId": "Keeta"}
        listing = "/api/v2/restaurants-integrations-public-api/availability/stores"
        if self.dialect == "rappi" and (method, path) == ("POST", listing) and json.loads(body) == [900]:
            return 200, {"900": True}
        return None

    def token_path(self):
        return {"ifood": "/authentication/v1.0/oauth/token", "open_delivery": "/v4/opendelivery/oauth/token",
                "keeta": "/api/open/opendelivery/oauth/token",
                "rappi": "/restaurants/auth/v1/token/login/integrations"}[self.dialect]

    def give_token(self, method, body):
        text = body.decode()
        if self.dialect == "rappi":
            given = json.loads(text)
            is_good = given == {"client_id": "c", "client_secret": SECRET}
        else:
            given = dict(urllib.parse.parse_qsl(text))
            is_good = given == {
                "ifood": {"grantType": "client_credentials", "clientId": "c", "clientSecret": SECRET},
                "open_delivery": {"grant_type": "client_credentials", "client_id": "5764_shop1", "client_secret": SECRET},
                "keeta": {"grant_type": "app_level_token", "client_id": "c", "client_secret": SECRET}}[self.dialect]
        if method != "POST" or not is_good:
            return 401, {"message": "bad credentials"}
        self.tokens += 1
        names = ("accessToken", "expiresIn") if self.dialect == "ifood" else ("access_token", "expires_in")
        return 200, {names[0]: f"token-{self.tokens}", names[1]: 21_600}

    def poll(self):
        events = [*self.noise, *self.queue]
        return (200, events) if events else (204, None)

    def acknowledge(self, events, names):
        if any(set(event) != names for event in events):
            return 400, {"message": "malformed"}
        ids = {event["id"] for event in events}

        def is_meant(event):
            return event.get("eventId", event.get("id")) in ids

        self.acknowledged += filter(is_meant, self.queue)
        self.queue = [event for event in self.queue if not is_meant(event)]
        return 202, None

    def take_step(self, identity, step):
        if identity not in self.orders:
            return 404, {"message": "no such order"}
        if self.dialect == "ifood" and step == "dispatch" and self.orders[identity]["orderType"] != "DELIVERY":
            return 400, {"message": "only deliveries are dispatched"}
        if self.dialect in ("open_delivery", "keeta") and (identity, step) in self.told:
            return 422, {"message": "done already"}
        self.told.append((identity, step))
        if self.echoes:
            self.tell(identity, STEPS[self.dialect][step])
        return 202, None

    def answer_ifood(self, method, path, query, headers, body):
        if (method, path) == ("GET", "/events/v1.0/events:polling") and query in ("", "excludeHeartbeat=true"):
            if headers["x-polling-merchants"] != "m-1":
                return 403, {"unauthorizedMerchants": ["m-1"]}
            self.polls.append(query)
            self.present += query == ""
            return self.poll()
        if (method, path) == ("POST", "/events/v1.0/events/acknowledgment"):
            return self.acknowledge(json.loads(body), {"id"})
        match = re.fullmatch(r"/order/v1\.0/orders/([\w-]+)(?:/(\w+))?", path)
        if match and method == "GET" and not match[2]:
            self.details_asked.append(match[1])
            order = self.orders.get(match[1])
            return (200, order) if order else (404, {"message": "not yet"})
        if match and method == "POST" and match[2] in STEPS["ifood"] and not body:
            return self.take_step(match[1], match[2])
        return None

    @staticmethod
    def is_signed(path, query, headers, body):
        """As Keeta wants it."""
        text = "&".join(filter(None, [f"https://{headers['Host']}{path}", query, body.decode()]))
        digest = hmac.digest(SECRET.encode(), text.encode(), hashlib.sha256)
        is_canonical = not body or body.decode() == json.dumps(json.loads(body), separators=(",", ":"), sort_keys=True,
                                                               ensure_ascii=False)
        return headers["X-App-Signature"] == base64.b64encode(digest).decode() and is_canonical

    def answer_keeta(self, method, path, query, headers, body):
        if not self.is_signed(path, query, headers, body):
            return 400, {"title": "Invalid signature"}
        path = path.removeprefix("/api/open/opendelivery")
        if path == "/v1/events:polling" and headers["x-polling-merchants"] != "m-1":
            return 400, {"title": "[None] is/are invalid"}
        if (method, path) == ("POST", "/v1/batchDecrypt") and len(json.loads(body)["cipherInfos"]) <= 50:
            if self.decrypted:
                return self.decrypted
            texts = [info["cipherText"] for info in json.loads(body)["cipherInfos"]]
            return 200, {"plainInfos": [{"cipherText": text, "plainText": PLAIN_TEXTS[text], "errorCode": 0} for text in texts]}
        return self.answer_open_delivery(method, path, query, headers, body)

    def answer_open_delivery(self, method, path, query, headers, body):
        path = path.removeprefix("/v4/opendelivery")
        if (method, path, query) == ("GET", "/v1/events:polling", ""):
            self.polls.append(query)
            return self.poll()
        if (method, path) == ("POST", "/v1/events/acknowledgment") and len(json.loads(body)) <= 100:
            return self.acknowledge(json.loads(body), {"id", "orderId", "eventType"})
        match = re.fullmatch(r"/v1/orders/([\w-]+)(?:/(\w+))?", path)
        if match and method == "GET" and not match[2]:
            self.details_asked.append(match[1])
            order = self.orders.get(match[1])
            return (200, order) if order else (404, {"message": "not yet"})
        if match and method == "POST" and match[2] in STEPS["open_delivery"]:
            if match[2] == "confirm" and set(json.loads(body)) != {"createdAt", "orderExternalCode"}:
                return 400, {"message": "malformed"}
            return self.take_step(match[1], match[2])
        return None

    def answer_rappi(self, method, path, query, headers, body):
        path = path.removeprefix("/restaurants/orders/v1")
        if (method, path, query) == ("GET", "/stores/900/orders", ""):
            self.polls.append("new")
            taken, self.new = self.new, []
            self.sent += taken  # they are never listed as new again
            return 200, [self.orders[identity] for identity in taken]
        if (method, path, query) == ("GET", "/orders/status/sent", ""):
            self.polls.append("sent")
            return 200, [self.orders[identity] for identity in self.sent]
        match = re.fullmatch(r"/stores/900/orders/(\d+)/(take|ready-for-pickup)", path)
        if match and (method, match[2]) in (("PUT", "take"), ("POST", "ready-for-pickup")):
            if match[1] not in self.orders:
                return 404, {"message": "no such order"}
            self.sent = [identity for identity in self.sent if identity != match[1]]
            if match[2] == "take" and (match[1], "take") in self.told:
                return 400, {"message": "Invalid transition from {TAKEN} to {TAKEN}"}
            self.told.append((match[1], match[2]))
            return 200, {"message": "Order successfully taken"}
        return None

    def close(self):
        self.server.close()


# Orders as the apps show them


def ifood_order(number, **changes):
    """Two pizzas with an option each, a drink, a benefit that iFood pays; 60.80 with the delivery."""
    return {"id": str(uuid.UUID(int=number)), "displayId": f"{number:04}", "orderType": "DELIVERY",
            "orderTiming": "IMMEDIATE", "category": "FOOD", "salesChannel": "IFOOD",
            "createdAt": "2026-11-25T12:00:00.123Z", "preparationStartDateTime": "2026-11-25T12:00:00.123Z", "isTest": False,
            "merchant": {"id": "m-1", "name": "La Terraza"},
            "customer": {"id": "u-1", "name": "Ana Souza", "documentNumber": "12345678909",
                         "phone": {"number": "0800 705 3030", "localizer": "10154977"}},
            "items": [
                {"index": 1, "id": "i1", "name": "Pizza", "externalCode": "PZ-G", "unit": "UN", "quantity": 2, "unitPrice": 20.0,
                 "optionsPrice": 3.5, "price": 40.0, "totalPrice": 47.0, "observations": "sem cebola",
                 "options": [{"index": 1, "id": "o1", "name": "Borda", "externalCode": "B1", "unit": "UN", "quantity": 1,
                              "unitPrice": 3.5, "price": 3.5}]},
                {"index": 2, "id": "i2", "name": "Guaraná", "externalCode": "GUA", "unit": "UN", "quantity": 1, "unitPrice": 8.8,
                 "price": 8.8, "totalPrice": 8.8}],
            "benefits": [{"value": 5, "target": "CART", "sponsorshipValues": [{"name": "IFOOD", "value": 5}]}],
            "total": {"subTotal": 55.8, "deliveryFee": 9, "benefits": 5, "additionalFees": 1, "orderAmount": 60.8},
            "payments": {"prepaid": 60.8, "pending": 0,
                         "methods": [{"value": 60.8, "currency": "BRL", "method": "CREDIT", "type": "ONLINE", "prepaid": True}]},
            "delivery": {"mode": "DEFAULT", "deliveredBy": "IFOOD", "observations": "portão azul",
                         "deliveryAddress": {"streetName": "Rua A", "streetNumber": "10", "formattedAddress": "Rua A, 10",
                                             "neighborhood": "Centro", "city": "São Paulo", "complement": "apto 1",
                                             "coordinates": {"latitude": -23.5, "longitude": -46.6}}},
            **changes}


def open_delivery_order(number, **changes):
    """The same by the words of Open Delivery."""
    def price(value):
        return {"value": value, "currency": "BRL"}
    return {"id": str(uuid.UUID(int=number)), "type": "DELIVERY", "displayId": f"{number:04}", "createdAt": "2026-11-25T12:00:00Z",
            "orderTiming": "INSTANT", "preparationStartDateTime": "2026-11-25T12:00:00Z",
            "merchant": {"id": "m" * 36, "name": "La Terraza"},
            "items": [
                {"id": "i1", "index": 1, "name": "Pizza", "externalCode": "PZ-G", "unit": "UN", "quantity": 2,
                 "unitPrice": price(20), "optionsPrice": price(3.5), "totalPrice": price(47), "specialInstructions": "sem cebola",
                 "options": [{"id": "o1", "name": "Borda", "externalCode": "B1", "unit": "UN", "quantity": 1,
                              "unitPrice": price(3.5), "totalPrice": price(3.5)}]},
                {"id": "i2", "index": 2, "name": "Guaraná", "externalCode": "GUA", "unit": "UN", "quantity": 1,
                 "unitPrice": price(8.8), "totalPrice": price(8.8)}],
            "otherFees": [{"name": "Entrega", "type": "DELIVERY_FEE", "receivedBy": "MERCHANT", "price": price(9)},
                          {"name": "Taxa", "type": "SERVICE_FEE", "receivedBy": "MARKETPLACE", "price": price(1)}],
            "discounts": [{"amount": price(5), "target": "CART",
                           "sponsorshipValues": [{"name": "MARKETPLACE", "amount": price(5)}]}],
            "total": {"itemsPrice": price(55.8), "otherFees": price(10), "discount": price(5), "orderAmount": price(60.8)},
            "payments": {"prepaid": 60.8, "pending": 0,
                         "methods": [{"value": 60.8, "currency": "BRL", "type": "PREPAID", "method": "PIX"}]},
            "customer": {"id": "u", "name": "Ana Souza", "phone": {"number": "11999990000"}, "ordersCountOnMerchant": 2},
            "delivery": {"deliveredBy": "MARKETPLACE", "estimatedDeliveryDateTime": "2026-11-25T13:00:00Z",
                         "deliveryAddress": {"country": "BR", "state": "BR-SP", "city": "São Paulo", "district": "Centro",
                                             "street": "Rua A", "number": "10", "formattedAddress": "Rua A, 10",
                                             "postalCode": "20111-000", "coordinates": {"latitude": -23.5, "longitude": -46.6}}},
            **changes}


PLAIN_TEXTS = {"ENC_phone/+1==": "11999990000", "ENC_address": "Rua A, 10", "ENC_number": "10", "ENC_district": "Centro"}


def keeta_order(number, **changes):
    """The same as Keeta shows an order that the restaurant's own rider brings: what is personal is encrypted."""
    order = open_delivery_order(number, **{"id": str(783441058793308 + number), **changes})
    order["customer"]["phone"]["number"] = "ENC_phone/+1=="
    order["delivery"]["deliveredBy"] = "MERCHANT"
    order["delivery"]["deliveryAddress"] |= {"formattedAddress": "ENC_address", "number": "ENC_number",
                                             "district": "ENC_district"}
    return order


def rappi_order(number, method="delivery", **totals):
    """The same by the words of Rappi: 55.80 of products, 5 of which the restaurant gives away."""
    return {"order_detail": {
                "order_id": str(number), "cooking_time": 15, "created_at": "2026-11-25 07:00:00", "delivery_method": method,
                "payment_method": "cc", "billing_information": None,
                "delivery_information": {"city": "Lima", "neighborhood": "Centro", "complete_address": "Calle A 10",
                                         "complement": "puerta azul", "postal_code": "15001"},
                "totals": {"total_products": 55.8, "total_discounts": 5, "total_products_with_discount": 50.8,
                           "total_products_without_discount": 55.8, "total_order": 50.8, "total_to_pay": 0,
                           "charges": {"shipping": 9, "service_fee": 1}, "other_totals": {"tip": 2}, **totals},
                "items": [
                    {"sku": "PZ-G", "id": "729963", "name": "Pizza", "type": "product", "comments": "sin cebolla", "price": 20,
                     "unit_price_with_discount": 20, "unit_price_without_discount": 20, "percentage_discount": 0, "quantity": 2,
                     "subitems": [{"sku": "B1", "id": "1", "name": "Borde", "type": "topping", "price": 3.5, "quantity": 1}]},
                    {"sku": "GUA", "id": "729964", "name": "Gaseosa", "type": "product", "comments": "", "price": 8.8,
                     "quantity": 1, "subitems": []}],
                "discounts": [{"title": "2x1", "description": "martes", "value": 5, "amount_by_partner": 5, "amount_by_rappi": 0}],
                "delivery_discount": None, "vendors": []},
            "customer": {"first_name": "Ana", "last_name": "Souza", "phone_number": "999"},
            "store": {"internal_id": "900", "external_id": "900", "name": "La Terraza"}}


ORDER_OF = {"ifood": ifood_order, "99food": open_delivery_order, "keeta": keeta_order, "rappi": rappi_order}
