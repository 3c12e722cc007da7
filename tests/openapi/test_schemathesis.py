"""Schemathesis asks the sandbox whatever its own document allows, and what it forbids: no 5xx, no status and no
error code that is not documented, no answer that breaks its schema, no wrong input taken, no right one refused."""

# The seed and the budget are fixed; what a faster machine finds more within it is welcome.
SEED = "7"
CASES = "15"
SECONDS = "75"


# auth_is_enforced in checks.py stands for ignored_auth. And nothing is ever freed: a cancelled item and a
# revoked key stay to be read, an unassigned rider can be assigned anew.
NOT_CHECKED = "ignored_auth,use_after_free"


def ask(tools, box, *words, scopes="all"):
    key = box.make_key(scopes, env="test")
    result = tools.pip("schemathesis.cli", "--config-file", "tests/openapi/schemathesis.toml", "run",
                       f"{box.sandbox_url}/v1/openapi.json", "--header", f"Authorization: Bearer {key['key']}",
                       "--tls-verify", box.cafile, "--checks", "all", "--exclude-checks", NOT_CHECKED,
                       "--seed", SEED, "--max-examples", CASES, *words, env={"COMANDA_KEY_ID": key["id"]})
    assert result.returncode == 0, result.stdout


def test_the_restaurant_is_as_documented(tools, sandbox_box):
    ask(tools, sandbox_box, "--max-time", SECONDS, "--exclude-path-regex", "^/(auth|sandbox)/")


def test_keys_and_the_reset_are_as_documented(tools, sandbox_box):
    ask(tools, sandbox_box, "--include-path-regex", "^/(auth|sandbox)/", "--phases", "examples,coverage,fuzzing")
