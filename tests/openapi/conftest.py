import contextlib
import os
import pathlib
import subprocess

import pytest

from support.box import PATIENCE_S, ROOT, Box, free_port
from support.openapi import FILE
from support.receiver import LOOPBACK

HERE = pathlib.Path(__file__).parent


class Tools:
    """The pinned tools, run from the top of the tree."""

    clients = HERE / "clients"
    cafile = None  # what programs in Java trust

    def __init__(self, node, python, generators):
        self.node, self.python, self.generators = map(pathlib.Path, (node, python, generators))

    def npm(self, name, *words, **how):
        return self._run([self.node / "node_modules/.bin" / name, *words], **how)

    def node_program(self, file, **how):
        return self._run(["node", file], **how)

    def pip(self, module, *words, **how):
        """By its module: the scripts of an environment name the folder that it was made in."""
        return self._run([self.python / "bin/python", "-m", module, *words], **how)

    def run(self, *command, **how):
        return self._run(command, **how)

    def openapi_generator(self, language, target, *options):
        return self.run("java", "-jar", self.generators / "openapi-generator-cli.jar", "generate", "-i", FILE, "-g", language,
                        "-o", target, *options)

    def maven(self, folder):
        """Compiles; returns the other classes that it needs."""
        result = self.run("mvn", "-q", "-B", "compile", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath",
                          "-Dmdep.outputFile=classpath", cwd=folder)
        assert result.returncode == 0, result.stdout[-5000:]
        return (folder / "classpath").read_text()

    def java_with_trust(self, folder):
        """The command, with a store of Java's own kind that holds `cafile`."""
        store = folder / "trust.p12"
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "box", "-file", self.cafile, "-keystore", store,
                        "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True)
        return ["java", f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit"]

    def _run(self, command, env=None, cwd=ROOT, patience_s=PATIENCE_S * 20, input=None):
        environment = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
                       "NO_COLOR": "1", "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1",
                       "PATH": f"{self.python}/bin:{os.environ['PATH']}", **(env or {})}
        return subprocess.run(list(map(str, command)), cwd=cwd, env=environment, text=True, timeout=patience_s,
                              input=input, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture(scope="session")
def tools():
    result = subprocess.run([HERE / "tools"], capture_output=True, text=True, timeout=PATIENCE_S * 60)
    assert result.returncode == 0, result.stderr
    return Tools(*result.stdout.split())


@contextlib.contextmanager
def box_with_sandbox(prepare=lambda box: None):
    box = Box()
    box.sandbox_port = free_port()
    box.sandbox_url = f"https://127.0.0.1:{box.sandbox_port}"
    box.options += ["--sandbox-listen", f"127.0.0.1:{box.sandbox_port}"]
    prepare(box)
    box.start()
    yield box
    assert box.discard() == 0, "the server did not end cleanly"


@pytest.fixture
def sandbox_box():
    """A fresh box with its sandbox."""
    with box_with_sandbox() as box:
        yield box


@pytest.fixture(scope="module")
def docs_box():
    """A box with the demo restaurant, and a sandbox with a key for it."""
    def prepare(box):
        box.bring_in()
        box.options += LOOPBACK
    with box_with_sandbox(prepare) as box:
        box.sandbox_key = box.make_key(env="test")["key"]
        yield box
