"""The whole API, as listed in tests/golden/routes.txt, and every scope."""

import dataclasses
import pathlib
import re

from support.box import ROOT

GOLDEN = ROOT / "tests/golden/routes.txt"
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
SCOPES = [
    "menu:read", "menu:write", "orders:read", "orders:write", "logistics:write", "clients:read", "reports:read",
    "webhooks:read", "webhooks:write", "companies:read", "payment-methods:read", "users:read", "stores:read",
    "api-keys:read", "api-keys:write", "kitchen:read", "kitchen:write", "printers:read", "printers:write", "admin:read",
    "admin:write"]
SOME_ID = "0192f0a0-ffff-7000-8000-00000000ffff"


@dataclasses.dataclass(frozen=True)
class Route:
    method: str
    pattern: str
    access: str  # open, key, local, or the scope
    replay: str  # -, honoured, required

    @property
    def path(self):
        """The pattern with an id that no record has."""
        file = "worker.js" if self.pattern.startswith("/kitchen/") else "till.py"
        return re.sub(r"\{\w+\}", SOME_ID, self.pattern.replace("{code}", "not_found").replace("{file}", file))

    def __str__(self):
        return f"{self.method} {self.pattern}"


def read():
    lines = GOLDEN.read_text().splitlines()
    return [Route(*line.split()) for line in lines if line and not line.startswith("#")]


ALL_ROUTES = read()
# The live address has all routes except those of the sandbox.
ROUTES = [r for r in ALL_ROUTES if not r.access.endswith("@sandbox")]
SCOPED = [r for r in ROUTES if ":" in r.access]


def in_source():
    """{(method, pattern)} of the tables of routes in src/."""
    helpers = {"Get": "GET", "Post": "POST", "PostBodyOptional": "POST", "Put": "PUT", "Patch": "PATCH",
               "Delete": "DELETE"}
    found = set()
    for file in pathlib.Path(ROOT / "src").glob("*/*.cc"):
        text = file.read_text()
        for helper, pattern in re.findall(r'\b(\w+)\(\s*"(/[^"\s]*)"\s*,\s*[\w:]*Scope::', text):
            found.add((helpers[helper], pattern))
        for method, pattern in re.findall(r'Method::k(\w+),\s*"(/[^"]*)"', text):
            found.add((method.upper(), pattern))
    return found
