"""src/web/openapi.json in the eyes of the linters that most people use."""

from support.openapi import FILE


def test_spectral_has_nothing_to_say(tools):
    result = tools.npm("spectral", "lint", FILE, "--ruleset", "tests/openapi/spectral.yaml", "--fail-severity", "hint")
    assert result.returncode == 0, result.stdout


def test_redocly_has_nothing_to_say(tools):
    result = tools.npm("redocly", "lint", "--config", "tests/openapi/redocly.yaml", FILE)
    assert result.returncode == 0 and "warning" not in result.stdout.lower(), result.stdout
