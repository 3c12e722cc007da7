"""What scanners say of our TLS. With --long, testssl looks at everything; else at protocols, ciphers and certificate."""

import json
import subprocess

from support.box import LONG, PATIENCE_S

PARTS = [] if LONG else ["--protocols", "--std", "--server-defaults"]
# The authority of one box publishes no list of what it revoked: there is nobody who would read it.
ACCEPTED = {"cert_revocation"}


def test_nmap_gives_every_suite_an_a(box):
    box.start()
    result = subprocess.run(
        ["nmap", "-Pn", "-n", "-p", str(box.port), "--script", "ssl-enum-ciphers", "127.0.0.1"],
        capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert "least strength: A\n" in result.stdout, result.stdout + result.stderr
    assert "TLSv1.2:" in result.stdout and "TLSv1.3:" in result.stdout
    assert "TLSv1.1" not in result.stdout and "warnings" not in result.stdout


def test_testssl_finds_nothing_of_medium_severity_or_worse(box, tmp_path):
    box.start()
    report = tmp_path / "testssl.json"
    result = subprocess.run(
        ["testssl", "--ip", "127.0.0.1", "--nodns", "none", "--warnings", "off", "--quiet", "--color", "0",
         "--add-ca", str(box.cafile), "--jsonfile", str(report), *PARTS, f"https://localhost:{box.port}"],
        capture_output=True, text=True, timeout=PATIENCE_S * 40, stdin=subprocess.DEVNULL)
    findings = json.loads(report.read_text())
    assert {f["id"] for f in findings} >= {"TLS1_2", "TLS1_3", "cert_chain_of_trust"}, result.stdout[-2000:]
    bad = [f for f in findings if f["severity"] not in ("OK", "INFO", "LOW", "DEBUG", "WARN")]
    assert [f for f in bad if f["id"] not in ACCEPTED] == []
