"""Clients that generators of other languages make from the document, with their default options: each is compiled, takes
an order (places, fills, pays, reads, lists it) and cancels another, over TLS with the box's authority; fields that are
null stay null, and 1234567.89 arrives to the cent.

| generator | version | how far |
|---|---|---|
| openapi-generator go, kotlin, java | 7.17.0 (tools) | compiled, takes orders |
| oapi-codegen | 2.8.2 (tools), with skip-prune: else it drops schemas that only `webhooks` names | compiled, takes orders |
| openapi-typescript | 7.13.0 (package.json) | type-checked, takes orders |
| hey-api | 0.85.0 (package.json): the newest for the Node of Debian 12 | type-checked, takes orders |
| openapi-python-client | 0.29.1 (requirements.txt) | type-checked, takes orders |
| openapi-generator csharp | 7.17.0 | its source is read: no SDK of .NET is in the registries that tests may use |
"""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from support.openapi import DOCUMENT, FILE

CLIENTS = pathlib.Path(__file__).parent / "clients"
SEEN = {"total": 1234604.89, "paid": True, "change": 13, "title": None, "cancelled": "CANCELLED"}


@pytest.fixture
def access(sandbox_box):
    return {"COMANDA_URL": sandbox_box.sandbox_url, "COMANDA_KEY": sandbox_box.make_key(env="test")["key"],
            "SSL_CERT_FILE": str(sandbox_box.cafile), "NODE_EXTRA_CA_CERTS": str(sandbox_box.cafile)}


@pytest.fixture
def run_java(tools, sandbox_box, access, tmp_path):
    """Runs a class, with a store of Java's own kind that holds the box's authority."""
    tools.cafile = sandbox_box.cafile

    def run(main, *classes):
        return tools.run(*tools.java_with_trust(tmp_path), "-cp", ":".join(map(str, classes)), main, env=access)
    return run


def done(result):
    assert result.returncode == 0, result.stdout[-5000:]
    return result


def test_openapi_generator_go(tools, access, tmp_path):
    folder = shutil.copytree(CLIENTS / "go", tmp_path / "go")
    done(tools.openapi_generator("go", folder / "client"))
    done(tools.run("go", "build", "-o", "take_orders", ".", cwd=folder))
    assert json.loads(done(tools.run(folder / "take_orders", env=access)).stdout) == SEEN


def test_oapi_codegen(tools, access, tmp_path):
    folder = shutil.copytree(CLIENTS / "oapi_codegen", tmp_path / "go")
    (folder / "comanda").mkdir()
    done(tools.run(tools.generators / "oapi-codegen", "-generate", "types,client,skip-prune", "-package", "comanda",
                   "-o", folder / "comanda/comanda.go", FILE))
    done(tools.run("go", "build", "-o", "take_orders", ".", cwd=folder))
    assert json.loads(done(tools.run(folder / "take_orders", env=access)).stdout) == SEEN


def test_openapi_generator_kotlin(tools, run_java, tmp_path):
    folder = shutil.copytree(CLIENTS / "kotlin", tmp_path / "kotlin")
    done(tools.openapi_generator("kotlin", folder / "client"))
    needed = tools.maven(folder)
    assert json.loads(done(run_java("TakeOrdersKt", folder / "target/classes", needed)).stdout) == SEEN


def test_openapi_generator_java(tools, run_java, tmp_path):
    folder = tmp_path / "java"
    done(tools.openapi_generator("java", folder))
    needed = tools.maven(folder)
    done(tools.run("javac", "-d", folder / "taken", "-cp", f"{folder / 'target/classes'}:{needed}",
                   CLIENTS / "java/TakeOrders.java"))
    assert json.loads(done(run_java("TakeOrders", folder / "taken", folder / "target/classes", needed)).stdout) == SEEN


def run_typescript(tools, access, folder):
    """Checks the program in all strictness, and runs it."""
    (folder / "node_modules").symlink_to(tools.node / "node_modules")
    done(tools.npm("tsc", "--strict", "--target", "es2022", "--module", "node16", "--types", "node", "--skipLibCheck", "false",
                   "--outDir", "made", "take_orders.ts", cwd=folder))
    return json.loads(done(tools.node_program("made/take_orders.js", cwd=folder, env=access)).stdout)


def test_openapi_typescript(tools, access, tmp_path):
    folder = shutil.copytree(CLIENTS / "openapi_typescript", tmp_path / "client")
    done(tools.npm("openapi-typescript", FILE, "-o", folder / "api.ts"))
    assert run_typescript(tools, access, folder) == SEEN


def test_hey_api(tools, access, tmp_path):
    folder = shutil.copytree(CLIENTS / "hey_api", tmp_path / "client")
    done(tools.npm("openapi-ts", "-i", FILE, "-o", folder / "api"))
    assert run_typescript(tools, access, folder) == SEEN


def test_openapi_python_client(tools, access, tmp_path):
    folder = shutil.copytree(CLIENTS / "openapi_python_client", tmp_path / "client")
    done(tools.pip("openapi_python_client", "generate", "--path", FILE, "--meta", "none", "--fail-on-warning",
                   "--config", folder / "config.yml", "--output-path", folder / "comanda_client"))
    done(tools.pip("mypy", "--config-file", "mypy.ini", "comanda_client", "take_orders.py", cwd=folder))
    assert json.loads(done(tools.pip("take_orders", cwd=folder, env=access)).stdout) == SEEN


def numbers(schema):
    """(name, whether it may be null) of each property that is a number with decimals."""
    for name, row in schema.get("properties", {}).items():
        kinds = row.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "number" in kinds:
            yield name, "null" in kinds


def test_openapi_generator_csharp_reads_money_as_double_and_keeps_what_is_null(tools, tmp_path):
    done(tools.openapi_generator("csharp", tmp_path))
    models = tmp_path / "src/Org.OpenAPITools/Model"
    checked = 0
    for schema, row in DOCUMENT["components"]["schemas"].items():
        for name, nullable in numbers(row):
            source = (models / f"{schema}.cs").read_text()
            member = re.search(rf'JsonPropertyName\("{name}"\)\]\s+public ([\w?]+) ', source)
            optional = name not in row.get("required", [])
            assert member[1] == ("double?" if nullable or optional else "double"), (schema, name, member[1])
            checked += 1
    assert checked > 50


def test_two_enums_share_no_name():
    """Generators of languages whose enums are plain constants (Go) would declare it twice."""
    seen = {}
    for schema, row in DOCUMENT["components"]["schemas"].items():
        if "enum" not in row:
            continue
        names = row.get("x-enum-varnames") or [re.sub(r"\W", "_", str(value)).upper() for value in row["enum"]]
        assert len(names) == len(row["enum"]), schema
        for name in names:
            assert name not in seen, (name, schema, seen[name])
            seen[name] = schema


def test_a_name_stands_for_one_component():
    seen = {}
    for kind, rows in DOCUMENT["components"].items():
        for name in rows:
            assert name not in seen, (name, kind, seen[name])
            seen[name] = kind


def schemas(node, where=""):
    if isinstance(node, dict):
        yield where, node
        for name, child in node.items():
            yield from schemas(child, f"{where}/{name}")
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from schemas(child, f"{where}/{index}")


def test_no_schema_has_what_generators_lose():
    """allOf loses nulls, several types make no type, a number without format is a text or 32 bits wide."""
    for where, node in schemas(DOCUMENT["components"]["schemas"]):
        if "/example" in where or where.endswith("/not"):
            continue
        assert "allOf" not in node, where
        kinds = node.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not isinstance(kinds, list):
            continue  # a property of that name
        assert len([kind for kind in kinds if kind != "null"]) < 2, where
        if "number" in kinds:
            assert node.get("format") == "double", where
