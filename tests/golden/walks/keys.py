"""Keys, their lives and limits; the command line's own routes; pages of other origins; the sandbox."""

from golden.walks.common import DEMO, NOBODY, OTHER, OTHER_FILE, demo, in_days
from support.box import free_port

KEYS = "/auth/api-keys"
PANEL = "https://panel.example"


def options(box):
    box.sandbox_port = free_port()
    return ["--sandbox_listen", f"127.0.0.1:{box.sandbox_port}", "--cors-origins", PANEL, "--rate_standard", "2"]


def walk(r):
    demo(r)
    r.client("tester", r.box.make_key(env="test", name="tester")["key"], r.box.sandbox_port)
    r.client("local", port="control.sock")
    r.client("local at the sandbox", port="control-test.sock")
    last_key(r)
    making(r)
    changing(r)
    limits(r)
    other_origins(r)
    command_line(r)
    pairing(r)
    devices(r)
    sandbox(r)


def last_key(r):
    owner = r.ask("keys", "GET", KEYS).data[0]
    r.ask("the last managing key is not revoked", "DELETE", f"{KEYS}/{owner['id']}")
    r.ask("the last managing key keeps its scopes", "PATCH", f"{KEYS}/{owner['id']}", {"scopes": ["orders:read"]})
    r.ask("the last managing key gets no end", "PATCH", f"{KEYS}/{owner['id']}", {"expires_at": in_days(3)})
    r.ask("the last managing key gets a name", "PATCH", f"{KEYS}/{owner['id']}", {"name": "the owner"})


def making(r):
    r.ask("make: the least", "POST", KEYS, {"name": "till", "scopes": ["orders:read"]})
    r.ask("make: everything", "POST", KEYS, {"name": "till 2", "scopes": ["orders:write", "orders:read", "orders:read"],
        "tier": "plus",
                                             "expires_at": in_days(30), "allowed_cidrs": ["192.168.1.0/24",
                                                 "2001:db8::/32"]})
    for title in ("make: once", "make: once, again"):
        r.ask(title, "POST", KEYS, {"name": "once", "scopes": ["menu:read"]}, "Idempotency-Key: once")
    r.ask("make: another under the same key", "POST", KEYS, {"name": "twice", "scopes": ["menu:read"]},
        "Idempotency-Key: once")
    for title, body in [("an empty name", {"name": " "}), ("no scopes", {"scopes": []}),
        ("a scope that is none", {"scopes": ["orders:delete"]}),
                        ("a tier that is none", {"tier": "gold"}),
                            ("a past end", {"expires_at": "2020-01-01T00:00:00Z"}),
                        ("an end without a zone", {"expires_at": "2030-01-01T00:00:00"}),
                            ("an address that is none", {"allowed_cidrs": ["till"]}),
                        ("bits behind its prefix", {"allowed_cidrs": ["10.0.0.1/8"]}),
                            ("a key of one's own", {"key": "x", "id": NOBODY}),
                        ("a control byte", {"name": "a\x07"}),
                            ("all of it", {"name": 1, "scopes": "x", "tier": 1, "expires_at": 1, "allowed_cidrs": 1})]:
        r.ask(f"make: {title}", "POST", KEYS, {"name": "till", "scopes": ["orders:read"], **body})
    r.ask("make: a managing key", "POST", KEYS, {"name": "manager", "scopes": ["api-keys:write", "api-keys:read"]})
    r.client("manager", r.box.make_key("api-keys:read,api-keys:write", tier="lan", name="manager")["key"])
    r.ask("make: a scope that the maker lacks", "POST", KEYS, {"name": "x", "scopes": ["orders:read"]}, who="manager")
    r.ask("make: a tier that the maker has", "POST", KEYS, {"name": "x", "scopes": ["menu:read"], "tier": "lan"},
        who="manager")
    r.ask("make: a tier above the others", "POST", KEYS, {"name": "x", "scopes": ["menu:read"], "tier": "unlimited"})


def changing(r):
    made = r.ask("change: make", "POST", KEYS, {"name": "kitchen", "scopes": ["orders:read"], "tier": "unlimited"}).data
    at = f"{KEYS}/{made['id']}"
    r.client("kitchen", made["key"])
    r.ask("change: read", "GET", at)
    r.ask("change: name and scopes", "PATCH", at, {"name": "Cocina", "scopes": ["menu:read"]})
    r.ask("change: nothing", "PATCH", at, {})
    r.ask("change: the scope is gone", "GET", "/v1/orders", who="kitchen")
    r.ask("change: an address that it does not come from", "PATCH", at, {"allowed_cidrs": ["10.0.0.0/8"]})
    r.ask("change: from another address", "GET", "/v1/menu?per_page=1&page=99", who="kitchen")
    r.ask("change: from anywhere again", "PATCH", at, {"allowed_cidrs": None})
    for title, body in [("no name", {"name": None}), ("no scopes", {"scopes": None}),
        ("a read-only field", {"mode": "test"})]:
        r.ask(f"change: {title}", "PATCH", at, body)
    new = r.ask("rotate: with a time of grace", "POST", f"{at}/rotate", {"grace_seconds": 3600},
        "Idempotency-Key: rotate").data
    r.ask("rotate: again under the same key", "POST", f"{at}/rotate", {"grace_seconds": 3600},
        "Idempotency-Key: rotate")
    r.ask("rotate: the old key in its time of grace", "GET", "/v1/menu?per_page=1&page=99", who="kitchen")
    r.ask("rotate: the old one", "POST", f"{at}/rotate", {})
    r.ask("rotate: a negative time of grace", "POST", f"{KEYS}/{new['id']}/rotate", {"grace_seconds": -1})
    r.ask("rotate: at once, without a body", "POST", f"{KEYS}/{new['id']}/rotate")
    r.client("kitchen's second", new["key"])
    r.ask("rotate: a key that was replaced", "GET", "/v1/menu?per_page=1&page=99", who="kitchen's second")
    spare = r.ask("revoke: make", "POST", KEYS, {"name": "spare", "scopes": ["orders:read"]}).data
    r.ask("revoke", "DELETE", f"{KEYS}/{spare['id']}")
    r.ask("revoke: again", "DELETE", f"{KEYS}/{spare['id']}")
    r.ask("revoke: change it", "PATCH", f"{KEYS}/{spare['id']}", {"name": "x"})
    r.client("spare", spare["key"])
    r.ask("revoke: use it", "GET", "/v1/orders", who="spare")
    for query in ["per_page=2", "sort=name&per_page=3", "sort=-name&per_page=3", "sort=created_at&per_page=2",
        "filter[active]=false", "filter[active]=true&per_page=2",
                  "filter[active]=x", "sort=tier", "snapshot=2&per_page=1"]:
        r.ask(f"keys: {query}", "GET", f"{KEYS}?{query}")
    r.ask("keys: gzip is not used for secrets", "GET", KEYS, None, "Accept-Encoding: gzip")


def limits(r):
    made = r.ask("limit: a key of two requests a minute", "POST", KEYS, {"name": "slow",
        "scopes": ["orders:read"]}).data
    r.client("slow", made["key"])
    for number in range(1, 5):
        r.ask(f"limit: request {number}", "GET", "/v1/orders?per_page=1", who="slow")
    for number in range(1, 4):
        r.ask(f"limit: a refusal counts too {number}", "GET", "/v1/menu", who="slow")


def other_origins(r):
    for title, origin in (("a listed page", PANEL), ("another page", "https://evil.example"), ("null", "null")):
        who = f"Origin: {origin}"
        r.ask(f"{title} reads", "GET", "/v1/company/payment-methods?per_page=1", None, who)
        r.ask(f"{title} reads in vain", "GET", "/v1/orders/nothing", None, who)
        r.ask(f"{title} reads without a key", "GET", "/v1/orders", None, who, who="nobody")
        r.ask(f"{title} reads health", "GET", "/healthz", None, who, who="nobody")
        tag = r.ask(f"{title} reads users", "GET", "/v1/users?per_page=1", None, who).etag
        r.ask(f"{title} has read users", "GET", "/v1/users?per_page=1", None, who, f"If-None-Match: {tag}")
        for method in ("POST", "DELETE"):
            r.ask(f"{title} asks before {method}", "OPTIONS", "/v1/orders", None, who,
                f"Access-Control-Request-Method: {method}",
                  "Access-Control-Request-Headers: authorization,idempotency-key", who="nobody")


def command_line(r):
    r.ask("audit", "GET", "/control/audit", who="local")
    r.ask("audit: a page", "GET", "/control/audit?per_page=2", who="local")
    r.ask("audit: an unknown parameter", "GET", "/control/audit?x=1", who="local")
    r.ask("audit: with a key at the public address", "GET", "/control/audit")
    r.ask("keys for the command line", "GET", KEYS + "?per_page=1", who="local")
    r.ask("a key by the command line", "POST", KEYS, {"name": "by hand", "scopes": ["orders:read"]}, who="local")
    r.ask("import: the demo restaurant once more", "POST", "/control/import", b'"demo"', who="local")
    r.ask("import: another restaurant", "POST", "/control/import?new_company=true", OTHER_FILE.read_bytes(),
        who="local")
    for title, body in [("no JSON", b"{"), ("no companies", b"{}"), ("a list", b"[]"),
        ("a company without a name", b'{"companies":[{"country_code":"PE"}]}'),
                        ("wrong fields",
                            b'{"companies":[{"name":"x","country_code":"XX","timezone":"Lima","users":[{"name":1,"role":"king"}]}]}')]:
        r.ask(f"import: {title}", "POST", "/control/import", body, who="local")
    r.ask("several companies", "GET", KEYS, who="local")
    r.ask("one of several companies", "GET", KEYS, None, f"X-Company-Id: {OTHER}", who="local")
    r.ask("a company of nobody", "GET", KEYS, None, f"X-Company-Id: {NOBODY}", who="local")
    r.ask("a company that is none", "GET", KEYS, None, "X-Company-Id: x", who="local")
    r.ask("resume: nothing is held", "POST", "/control/resume", who="local")
    r.ask("resume: an unknown parameter", "POST", "/control/resume?x=1", who="local")
    r.ask("the demo's audit", "GET", "/control/audit?per_page=1", None, f"X-Company-Id: {DEMO}", who="local")
    r.ask("keys of the sandbox", "GET", KEYS, who="local at the sandbox")
    r.ask("health for the command line", "GET", "/healthz", who="local")


def sandbox(r):
    order = r.ask("sandbox: place", "POST", "/v1/orders", {"service_type": "ONSITE"}, "Idempotency-Key: one",
        who="tester")
    cursor = r.ask("sandbox: orders", "GET", "/v1/orders", who="tester").headers["x-event-cursor"]
    r.ask("sandbox: an unknown field", "POST", "/v1/orders", {"service_type": "ONSITE", "coment": "x"}, who="tester")
    r.ask("sandbox: several unknown fields", "POST", f"/v1/orders/{order.data['id']}/combos", {"combos": [{"name": "x",
        "quantity": 1, "variant_price": 1}]}, who="tester")
    r.ask("sandbox: a key", "POST", KEYS, {"name": "x", "scopes": ["orders:read"]}, who="tester")
    r.ask("sandbox: health", "GET", "/readyz", who="tester")
    r.ask("sandbox: reset with a field", "POST", "/sandbox/reset", {"keep_orders": True}, who="tester")
    r.ask("sandbox: reset with a list", "POST", "/sandbox/reset", [], who="tester")
    r.ask("sandbox: reset", "POST", "/sandbox/reset", {}, "Idempotency-Key: reset", who="tester")
    r.ask("sandbox: reset again under the same key", "POST", "/sandbox/reset", {}, "Idempotency-Key: reset",
        who="tester")
    r.ask("sandbox: reset without a body", "POST", "/sandbox/reset", who="tester")
    r.ask("sandbox: orders after it", "GET", "/v1/orders", who="tester")
    r.ask("sandbox: events after it", "GET", f"/v1/events?after={cursor}", who="tester")
    r.ask("sandbox: place again", "POST", "/v1/orders", {"service_type": "ONSITE"}, "Idempotency-Key: one",
        who="tester")


def pairing(r):
    path, codes = "/auth/pair", "/control/pairing-codes"
    demo_company = f"X-Company-Id: {DEMO}"
    made = r.ask("pairing: a code", "POST", codes, {"name": "Till 3", "scopes": ["orders:write", "orders:read"]}, demo_company, who="local")
    r.ask("pairing: it works once", "POST", path, {"code": made.data["code"]}, who="nobody")
    r.ask("pairing: and not twice", "POST", path, {"code": made.data["code"]}, who="nobody")
    r.ask("pairing: a guess", "POST", path, {"code": "0" * 22}, who="nobody")
    r.ask("pairing: no code", "POST", path, {}, who="nobody")
    r.ask("pairing: a parameter", "POST", path + "?x=1", {"code": "0"}, who="nobody")
    r.ask("pairing: a code for managing keys", "POST", codes, {"name": "x", "scopes": ["api-keys:write"]}, demo_company, who="local")
    r.ask("pairing: a code without anything", "POST", codes, {}, demo_company, who="local")
    r.ask("pairing: a code with what it cannot have", "POST", codes, {
        "name": "x", "scopes": ["orders:read"], "expires_at": in_days(1), "allowed_cidrs": []}, demo_company, who="local")
    r.ask("pairing: a code is not for keys", "POST", codes, {"name": "x", "scopes": ["orders:read"]})


def devices(r):
    codes, accept, demo_company = "/control/pairing-codes", "/box/devices/accept", f"X-Company-Id: {DEMO}"
    code = r.ask("devices: a code for a kitchen", "POST", codes, {"name": "Cocina", "role": "kitchen"}, demo_company, who="local")
    r.ask("devices: it is open", "GET", f"{codes}/{code.data['id']}", None, demo_company, who="local")
    made = r.ask("devices: a kitchen", "POST", "/auth/pair", {"code": code.data["code"]}, who="nobody")
    r.ask("devices: it is used", "GET", f"{codes}/{code.data['id']}", None, demo_company, who="local")
    uri = "/control/pairing-uri"
    r.ask("devices: what is before the code of a kitchen", "GET", f"{uri}?role=kitchen&address=caja.local", who="local")
    r.ask("devices: what is before the code of no role", "GET", f"{uri}?role=cook", who="local")
    r.ask("devices: a code that is none", "GET", f"{codes}/{NOBODY}", None, demo_company, who="local")
    r.ask("devices: a role and scopes", "POST", codes, {"name": "x", "role": "till", "scopes": ["menu:read"]}, demo_company, who="local")
    r.ask("devices: a role that is none", "POST", codes, {"name": "x", "role": "cook"}, demo_company, who="local")
    r.ask("devices: ask without anything", "POST", "/auth/pair/requests", {}, who="nobody")
    asked = r.ask("devices: ask", "POST", "/auth/pair/requests", {"name": "Tablet", "role": "kitchen"}, who="nobody")
    other = r.ask("devices: another asks", "POST", "/auth/pair/requests", {"name": "Tablet 2", "role": "till"}, who="nobody")
    r.ask("devices: a third of one address", "POST", "/auth/pair/requests", {"name": "Tablet 3", "role": "till"}, who="nobody")
    r.ask("devices: those that ask", "GET", "/control/pairing-requests", who="local")
    r.ask("devices: those that ask are no list for keys", "GET", "/control/pairing-requests")
    r.ask("devices: it waits", "POST", "/auth/pair", {"request": asked.data["request"]}, who="nobody")
    r.ask("devices: who shows the number", "POST", accept, {"number": asked.data["number"]})
    r.ask("devices: let it in", "POST", accept, {"number": asked.data["number"], "role": "kitchen", "name": "Cocina 2"})
    r.ask("devices: let it in again", "POST", accept, {"number": asked.data["number"], "role": "kitchen", "name": "Cocina 2"})
    r.ask("devices: it collects its key", "POST", "/auth/pair", {"request": asked.data["request"]}, who="nobody")
    r.ask("devices: once", "POST", "/auth/pair", {"request": asked.data["request"]}, who="nobody")
    r.ask("devices: a code and a request", "POST", "/auth/pair", {"request": "0" * 22, "code": "0" * 22}, who="nobody")
    r.ask("devices: refuse the other", "DELETE", f"/box/devices/requests/{other.data['number']}")
    r.ask("devices: refuse it again", "DELETE", f"/box/devices/requests/{other.data['number']}")
    r.ask("devices: refuse what is no number", "DELETE", "/box/devices/requests/4829")
    r.ask("devices: accept without anything", "POST", accept, {})
    r.ask("devices: accept what is no number", "POST", accept, {"number": "48291"})
    r.ask("devices: accept a panel without being one", "POST", accept, {"number": "000000", "role": "panel", "name": "x"})
    r.ask("devices: those that are in", "GET", "/box/devices")
    codes = "/box/devices/codes"
    shown = r.ask("devices: a code", "POST", codes, {"role": "kitchen", "name": "Horno"}, "Idempotency-Key: once")
    r.ask("devices: the same request again", "POST", codes, {"role": "kitchen", "name": "Horno"}, "Idempotency-Key: once")
    r.ask("devices: who has read it", "POST", "/auth/pair", {"code": shown.data["uri"].partition("#c=")[2]}, who="nobody")
    r.ask("devices: a code for a panel, of no panel", "POST", codes, {"role": "panel", "name": "x"})
    r.ask("devices: a code without anything", "POST", codes, {})
    r.ask("devices: a code with what it cannot have", "POST", codes, {"role": "cook", "name": "", "scopes": [], "allowed_cidrs": []})
    r.ask("devices: those that are in, by what is none", "GET", "/box/devices?sort=role")
    r.ask("devices: a role's scopes are its own", "PATCH", f"{KEYS}/{made.data['id']}", {"scopes": ["menu:read"]})
    r.ask("devices: shut out", "DELETE", f"/box/devices/{made.data['id']}")
    r.ask("devices: shut out what is none", "DELETE", f"/box/devices/{NOBODY}")
    r.ask("devices: the end of idle keys", "POST", KEYS, {"name": "x", "scopes": ["menu:read"], "idle_days": 366})
