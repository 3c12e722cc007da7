"""What Schemathesis checks of every answer beside its own, and what it must not ask."""

import os

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import ignored_auth


@schemathesis.hook("before_call")
def leaves_its_own_key_alone(context, case, kwargs):
    """It finds ids in answers; with its own it would revoke itself."""
    for name, value in (case.path_parameters or {}).items():
        if str(value).lower() == os.environ["COMANDA_KEY_ID"]:
            case.path_parameters[name] = "0192f0a0-ffff-7000-8000-00000000ffff"


@schemathesis.check
def auth_is_enforced(ctx, response, case):
    """As ignored_auth; but after twenty unknown keys from one address the answer is 429, which is a refusal too."""
    try:
        return ignored_auth(ctx, response, case)
    except Failure as failure:
        if "429 Too Many Requests" in failure.message:
            return None
        raise


@schemathesis.check
def status_is_named(ctx, response, case):
    """The answer stands under its own status in the document, and a problem under its code; the response
    `default` is for what any request may meet."""
    row = case.operation.definition.raw
    listed = {status: resolved(case, answer) for status, answer in row["responses"].items()}
    by_default = str(response.status_code) not in listed
    answer = listed["default" if by_default else str(response.status_code)]
    kind = response.headers.get("content-type", [""])[0]
    if kind != "application/problem+json":
        assert not by_default, f"{response.status_code} is not documented here"
        return
    code = response.json()["code"]
    known = answer["x-problem-codes"] if by_default else row["x-problem-codes"]
    assert code in known, f"{response.status_code} {code} is not documented here"


def resolved(case, thing):
    while "$ref" in thing:
        node = case.operation.schema.raw_schema
        for part in thing["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        thing = node
    return thing
