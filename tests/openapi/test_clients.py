"""Clients that others' generators make from the document: they check, and they place and pay an order."""

import json
import pathlib
import shutil

from support.openapi import FILE

HERE = pathlib.Path(__file__).parent
PAID = {"total": 37, "paid": True, "change": 13}


def access(box):
    return {"COMANDA_URL": box.sandbox_url, "COMANDA_KEY": box.make_key(env="test")["key"],
            "COMANDA_CA": str(box.cafile), "NODE_EXTRA_CA_CERTS": str(box.cafile)}


def test_openapi_typescript_makes_a_client_that_checks_and_pays(tools, sandbox_box, tmp_path):
    (tmp_path / "node_modules").symlink_to(tools.node / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(HERE / "place_and_pay.ts", tmp_path)
    made = tools.npm("openapi-typescript", FILE, "-o", tmp_path / "api.ts")
    assert made.returncode == 0, made.stdout
    checked = tools.npm("tsc", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler",
                        "--types", "node", "--skipLibCheck", "false", "--outDir", "made", "place_and_pay.ts", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    ran = tools.node_program("made/place_and_pay.js", cwd=tmp_path, env=access(sandbox_box))
    assert ran.returncode == 0, ran.stdout
    assert json.loads(ran.stdout) == PAID


def test_openapi_python_client_makes_a_client_that_checks_and_pays(tools, sandbox_box, tmp_path):
    shutil.copy(HERE / "place_and_pay.py", tmp_path)
    made = tools.pip("openapi_python_client", "generate", "--path", FILE, "--meta", "none", "--fail-on-warning",
                     "--output-path", tmp_path / "comanda_client")
    assert made.returncode == 0, made.stdout
    checked = tools.pip("mypy", "--config-file", HERE / "mypy.ini", "comanda_client", "place_and_pay.py", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    ran = tools.pip("place_and_pay", cwd=tmp_path, env=access(sandbox_box))
    assert ran.returncode == 0, ran.stdout
    assert json.loads(ran.stdout) == PAID
