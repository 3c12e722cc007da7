"""src/web/openapi.json: its operations, and the validation of answers against it."""

import dataclasses
import datetime
import functools
import json
import re
import uuid

import jsonschema

from support.box import ROOT

FILE = ROOT / "src/web/openapi.json"
METHODS = ["get", "post", "put", "patch", "delete"]
# Headers of HTTP itself; every other one must be documented.
PLAIN_HEADERS = {"date", "content-type", "content-length", "cache-control", "x-content-type-options", "connection",
                 "keep-alive", "content-security-policy", "referrer-policy", "permissions-policy", "cross-origin-opener-policy",
                 "service-worker-allowed", "vary", "content-encoding", "strict-transport-security"}

DOCUMENT = json.loads(FILE.read_text())


def resolve(thing):
    while "$ref" in thing:
        node = DOCUMENT
        for part in thing["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        thing = node
    return thing


# Schemas.

FORMATS = jsonschema.FormatChecker(formats=[])


@FORMATS.checks("uuid")
def is_uuid(value):
    if not isinstance(value, str):
        return True
    try:
        return str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


@FORMATS.checks("date-time")
def is_instant(value):
    if not isinstance(value, str):
        return True
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value):
        return False
    try:
        datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        return True
    except ValueError:
        return False


@functools.cache
def resolver():
    return jsonschema.RefResolver.from_schema(DOCUMENT)


def breaches(schema, value):
    """The deviations of the value from the schema, one line each."""
    checker = jsonschema.Draft202012Validator(schema, resolver=resolver(), format_checker=FORMATS)
    return [f"{e.json_path}: {e.message}" for e in checker.iter_errors(value)]


@functools.cache
def _problems():
    schema = DOCUMENT["components"]["schemas"]["Problem"]
    return jsonschema.Draft202012Validator(schema, resolver=resolver(), format_checker=FORMATS)


def breaches_of_a_problem(value):
    """The same for problem documents, of which there may be very many."""
    return [f"{e.json_path}: {e.message}" for e in _problems().iter_errors(value)]


def _parts(schema):
    """The schema merged with its allOf and its alternatives other than null."""
    schema = resolve(schema)
    yield schema
    for part in schema.get("allOf", []) + schema.get("oneOf", []):
        yield from _parts(part)


def undocumented(schema, value, path="$"):
    """Paths of members that no schema names."""
    parts = list(_parts(schema))
    if isinstance(value, dict):
        known = {n: s for part in parts for n, s in part.get("properties", {}).items()}
        if not known or any(part.get("additionalProperties") is True for part in parts):
            return []
        found = [f"{path}.{name}" for name in value if name not in known]
        for name in set(value) & set(known):
            found += undocumented(known[name], value[name], f"{path}.{name}")
        return found
    if isinstance(value, list):
        items = next((part["items"] for part in parts if "items" in part), {})
        return [line for i, item in enumerate(value) for line in undocumented(items, item, f"{path}[{i}]")]
    return []


# Operations.

@dataclasses.dataclass(frozen=True)
class Operation:
    method: str
    path: str
    row: dict = dataclasses.field(hash=False, compare=False)

    def __str__(self):
        return self.row["operationId"]

    @property
    def id(self):
        return self.row["operationId"]

    @property
    def parameters(self):
        return [resolve(p) for p in self.row.get("parameters", [])]

    @property
    def codes(self):
        return set(self.row["x-problem-codes"])

    @property
    def responses(self):
        return {status: resolve(r) for status, r in self.row["responses"].items()}

    @property
    def security(self):
        return self.row.get("security", DOCUMENT["security"])

    def examples(self):
        """[(name, body)] of the requests, or one without a body."""
        if "requestBody" not in self.row:
            return [("no body", None)]
        content = resolve(self.row["requestBody"])["content"]["application/json"]
        return [(name, resolve(e)["value"]) for name, e in content["examples"].items()]

    def check(self, answer):
        """Asserts that the document describes the answer; returns its body."""
        responses = self.responses
        listed = str(answer.status) in responses
        response = responses[str(answer.status)] if listed else responses["default"]
        where = f"{self.id}: {answer.status}"
        self._check_headers(answer, response, where)
        if answer.status == 304:
            assert answer.body == b""
            return None
        kind = answer.headers["content-type"]
        assert kind in response["content"], (where, kind)
        content = response["content"][kind]
        if "json" not in kind:
            assert answer.body, where
            return answer.body.decode()
        body = answer.json
        assert breaches(content["schema"], body) == [], (where, body)
        assert undocumented(content["schema"], body) == [], where
        if kind == "application/problem+json":
            foreseen = self.codes if listed else set(responses["default"]["x-problem-codes"])
            assert body["code"] in foreseen, (where, body)
            assert body["status"] == answer.status
        return body

    @staticmethod
    def _check_headers(answer, response, where):
        documented = {name.lower(): resolve(h) for name, h in response.get("headers", {}).items()}
        for name, value in answer.headers.items():
            if name in PLAIN_HEADERS:
                continue
            assert name in documented, (where, name)
            schema = documented[name]["schema"]
            assert breaches(schema, int(value) if schema["type"] == "integer" else value) == [], (where, name, value)
        for name, header in documented.items():
            assert name in answer.headers or not header.get("required"), (where, name)


# Answers that any request may get.
ANY_CODES = set(DOCUMENT["components"]["responses"]["AnyRequest"]["x-problem-codes"])

OPERATIONS = [Operation(method, path, item[method])
              for path, item in DOCUMENT["paths"].items() for method in METHODS if method in item]
