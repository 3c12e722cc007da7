"""Clients that generators of other languages make from the document, with their default options: each is compiled, takes
an order (places, fills, pays, reads, lists it) and cancels another, over TLS with the box's authority; fields that are
null stay null, and 1234567.89 arrives to the cent. Each changes one field of a product, whose others stay: a client that
sent its unset fields as null would clear them.

| generator | version | how far |
|---|---|---|
| openapi-generator go, kotlin, java | 7.17.0 (tools) | compiled, takes orders |
| oapi-codegen | 2.8.2 (tools), with skip-prune: else it drops schemas that only `webhooks` names | compiled, takes orders |
| openapi-typescript | 7.13.0 (package.json) | type-checked, takes orders |
| hey-api | 0.85.0 (package.json): the newest for the Node of Debian 12 | type-checked, takes orders |
| openapi-python-client | 0.29.1 (requirements.txt) | type-checked, takes orders |
| openapi-generator php | 7.17.0 (tools), with Debian's Guzzle and `BOOLEAN_FORMAT_STRING`: else it sends true as 1 | takes orders |
| openapi-generator ruby | 7.17.0 (tools), with Debian's Typhoeus | takes orders |
| openapi-generator kotlin with kotlinx.serialization | 7.17.0 (tools), with `explicitNulls = false`: else it sends its unset fields as null | compiled, takes orders; with `--long` |
| openapi-generator rust | 7.17.0 (tools) | compiled, takes orders; with `--long` |
| openapi-generator csharp | 7.17.0 | its source is read: no SDK of .NET is in the registries that tests may use |
"""

import contextlib
import json
import pathlib
import re
import shutil
import urllib.parse

import pytest

from support.box import LONG
from support.openapi import DOCUMENT, FILE, OPERATIONS

CLIENTS = pathlib.Path(__file__).parent / "clients"
LONG_ALONE = pytest.mark.skipif(not LONG, reason="compiles for minutes: with --long")
SEEN = {"total": 1234604.89, "paid": True, "change": 13, "title": None, "cancelled": "CANCELLED"}


CHANGED = "Con ají"
# Every field of a product that null would clear.
FULL = {"description": "Sin ají", "image_url": "https://comanda.example/causa.jpg", "images": ["https://comanda.example/1.jpg"],
        "messages_for_customers": "Contiene mariscos."}


@pytest.fixture
def restaurant(sandbox_box):
    """A client of the sandbox with a key for all."""
    with contextlib.closing(sandbox_box.client(sandbox_box.make_key(env="test")["key"])) as client:
        client.port = sandbox_box.sandbox_port
        yield client


@pytest.fixture
def product(restaurant):
    """One that has all that can be cleared."""
    products = [row for category in restaurant.get("/v1/menu").data["categories"] for row in category["products"]]
    station = next(row["kitchen_id"] for row in products if row["kitchen_id"])
    made = restaurant.patch(f"/v1/menu/products/{products[0]['id']}", {**FULL, "kitchen_id": station}).data
    clearable = {name for name, row in DOCUMENT["components"]["schemas"]["ProductChange"]["properties"].items()
                 if "null" in row.get("type", [])}
    assert clearable == {*FULL, "kitchen_id"} and all(made[name] for name in clearable)
    return made


@pytest.fixture
def access(sandbox_box, restaurant, product):
    return {"COMANDA_URL": sandbox_box.sandbox_url, "COMANDA_KEY": restaurant.key, "COMANDA_PRODUCT": product["id"],
            "SSL_CERT_FILE": str(sandbox_box.cafile), "NODE_EXTRA_CA_CERTS": str(sandbox_box.cafile)}


@pytest.fixture
def saw(restaurant, product):
    """saw(the output of a program): it has seen the orders as they are, and changed what it meant to change."""
    def judge(output):
        assert json.loads(output.splitlines()[-1]) == SEEN, output
        now = restaurant.get(f"/v1/menu/products/{product['id']}").data
        assert now == {**product, "description": CHANGED, "updated_at": now["updated_at"]}
    return judge


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


def test_openapi_generator_go(tools, access, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "go", tmp_path / "go")
    done(tools.openapi_generator("go", folder / "client"))
    done(tools.run("go", "build", "-o", "take_orders", ".", cwd=folder))
    saw(done(tools.run(folder / "take_orders", env=access)).stdout)


def test_oapi_codegen(tools, access, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "oapi_codegen", tmp_path / "go")
    (folder / "comanda").mkdir()
    done(tools.run(tools.generators / "oapi-codegen", "-generate", "types,client,skip-prune", "-package", "comanda",
                   "-o", folder / "comanda/comanda.go", FILE))
    done(tools.run("go", "build", "-o", "take_orders", ".", cwd=folder))
    saw(done(tools.run(folder / "take_orders", env=access)).stdout)


def test_openapi_generator_kotlin(tools, run_java, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "kotlin", tmp_path / "kotlin")
    done(tools.openapi_generator("kotlin", folder / "client"))
    needed = tools.maven(folder)
    saw(done(run_java("TakeOrdersKt", folder / "target/classes", needed)).stdout)


@LONG_ALONE
def test_openapi_generator_kotlin_with_kotlinx_serialization(tools, run_java, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "kotlin_serialization", tmp_path / "kotlin")
    done(tools.openapi_generator("kotlin", folder / "client", "--additional-properties=serializationLibrary=kotlinx_serialization"))
    needed = tools.maven(folder)
    saw(done(run_java("TakeOrdersKt", folder / "target/classes", needed)).stdout)


@LONG_ALONE
def test_openapi_generator_rust(tools, access, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "rust", tmp_path / "rust")
    done(tools.openapi_generator("rust", folder / "client"))
    done(tools.run("cargo", "build", "--quiet", "--locked", cwd=folder))
    saw(done(tools.run(folder / "target/debug/take_orders", env=access)).stdout)


def test_openapi_generator_php(tools, access, saw, tmp_path):
    done(tools.openapi_generator("php", tmp_path))
    saw(done(tools.run("php", CLIENTS / "php/take_orders.php", env={**access, "COMANDA_CLIENT": str(tmp_path)})).stdout)


def test_openapi_generator_ruby(tools, access, saw, tmp_path):
    done(tools.openapi_generator("ruby", tmp_path))
    saw(done(tools.run("ruby", "-I", tmp_path / "lib", CLIENTS / "ruby/take_orders.rb", env=access)).stdout)


def test_openapi_generator_java(tools, run_java, saw, tmp_path):
    folder = tmp_path / "java"
    done(tools.openapi_generator("java", folder))
    needed = tools.maven(folder)
    done(tools.run("javac", "-d", folder / "taken", "-cp", f"{folder / 'target/classes'}:{needed}",
                   CLIENTS / "java/TakeOrders.java"))
    saw(done(run_java("TakeOrders", folder / "taken", folder / "target/classes", needed)).stdout)


def run_typescript(tools, access, folder):
    """Checks the program in all strictness, and runs it."""
    (folder / "node_modules").symlink_to(tools.node / "node_modules")
    done(tools.npm("tsc", "--strict", "--target", "es2022", "--module", "node16", "--types", "node", "--skipLibCheck", "false",
                   "--outDir", "made", "take_orders.ts", cwd=folder))
    return done(tools.node_program("made/take_orders.js", cwd=folder, env=access)).stdout


def test_openapi_typescript(tools, access, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "openapi_typescript", tmp_path / "client")
    done(tools.npm("openapi-typescript", FILE, "-o", folder / "api.ts"))
    saw(run_typescript(tools, access, folder))


def test_hey_api(tools, access, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "hey_api", tmp_path / "client")
    done(tools.npm("openapi-ts", "-i", FILE, "-o", folder / "api"))
    saw(run_typescript(tools, access, folder))


def test_openapi_python_client(tools, access, saw, tmp_path):
    folder = shutil.copytree(CLIENTS / "openapi_python_client", tmp_path / "client")
    done(tools.pip("openapi_python_client", "generate", "--path", FILE, "--meta", "none", "--fail-on-warning",
                   "--config", folder / "config.yml", "--output-path", folder / "comanda_client"))
    done(tools.pip("mypy", "--config-file", "mypy.ini", "comanda_client", "take_orders.py", cwd=folder))
    saw(done(tools.pip("take_orders", cwd=folder, env=access)).stdout)


def test_what_clients_send_by_default_is_accepted(restaurant):
    """Generated clients send the default of each parameter, whether it is asked for or not."""
    asked = 0
    for operation in OPERATIONS:
        defaults = {row["name"]: row["schema"]["default"] for row in operation.parameters if "default" in row["schema"]}
        if operation.method == "get" and defaults and "{" not in operation.path:
            answer = restaurant.get(f"{operation.path}?{urllib.parse.urlencode(defaults)}")
            assert answer.status == 200, (operation, defaults, answer)
            asked += 1
    assert asked > 10


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


def test_no_scheme_is_named_as_a_schema():
    """In no spelling: both become classes of one package."""
    spelt = lambda names: {re.sub(r"\W|_", "", name).lower() for name in names}
    parts = DOCUMENT["components"]
    assert spelt(parts["securitySchemes"]) & spelt(parts["schemas"]) == set()


def test_no_schema_has_named_fields_and_any_others():
    """Of such a schema the client for kotlinx.serialization is a class that is a map, too: it does not compile."""
    for where, node in schemas(DOCUMENT):
        if "/example" not in where and "properties" in node and "type" in node:
            assert node.get("additionalProperties", False) is False, where


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
