"""Schemathesis asks the sandbox and the live address whatever their own document allows, and what it forbids: no 5xx, no
status and no error code that is not documented, no answer that breaks its schema, no wrong input taken, no right one
refused. The seed and the number of cases decide what is asked, and no time does: a slow machine asks the same."""

import os
import re

from support.box import LONG, PATIENCE_S

SEED = os.environ.get("COMANDA_SEED", "7")
CASES, LEAST = ("150", 10_000) if LONG else ("15", 300)  # of each operation; on each address
KEYS = "^/(auth|sandbox)/"
# Of the rest too: a test of a webhook waits up to 10 s for a receiver that is none.
NOT_HERE = KEYS + "|/test$"

# auth_is_enforced in checks.py stands for ignored_auth. And nothing is ever freed: a cancelled item and a
# revoked key stay to be read, an unassigned rider can be assigned anew.
NOT_CHECKED = "ignored_auth,use_after_free"
# The live address ignores unknown fields of a body: boxes and clients are upgraded at different times.
NOT_CHECKED_LIVE = NOT_CHECKED + ",negative_data_rejection"


def ask(tools, box, *words, address, env, not_checked=NOT_CHECKED):
    key = box.make_key("all", env=env)
    result = tools.pip("schemathesis.cli", "--config-file", "tests/openapi/schemathesis.toml", "run",
                       f"{address}/v1/openapi.json", "--header", f"Authorization: Bearer {key['key']}",
                       "--tls-verify", box.cafile, "--checks", "all", "--exclude-checks", not_checked,
                       "--seed", SEED, "--max-examples", CASES, *words,
                       env={"COMANDA_KEY_ID": key["id"]}, patience_s=PATIENCE_S * (1000 if LONG else 60))
    assert result.returncode == 0, result.stdout
    return int(re.search(r"(\d+) generated", result.stdout)[1])


def test_the_restaurant_is_as_documented(tools, sandbox_box):
    cases = ask(tools, sandbox_box, "--exclude-path-regex", NOT_HERE, address=sandbox_box.sandbox_url, env="test")
    assert cases >= LEAST, cases


def test_the_live_address_is_as_documented(tools, sandbox_box):
    sandbox_box.bring_in("demo")
    cases = ask(tools, sandbox_box, "--exclude-path-regex", NOT_HERE, address=f"https://127.0.0.1:{sandbox_box.port}", env="live",
                not_checked=NOT_CHECKED_LIVE)
    assert cases >= LEAST, cases


def test_keys_and_the_reset_are_as_documented(tools, sandbox_box):
    ask(tools, sandbox_box, "--include-path-regex", KEYS, "--phases", "examples,coverage,fuzzing",
        address=sandbox_box.sandbox_url, env="test")
