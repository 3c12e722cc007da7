"""The sources of the pages without a browser: their types, their rules beside a story, and what the bundle is."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support.box import PATIENCE_S, ROOT

HERE = pathlib.Path(__file__).parent
WEB = ROOT / "src/web"
BUILT = pathlib.Path(os.environ.get("COMANDA_BUILD", ROOT / "build/release"))
MADE = BUILT / "generated/web"
OPTIONS = {"strict": True, "noEmit": True, "target": "es2017", "lib": ["es2019", "dom", "dom.iterable"], "module": "esnext",
           "moduleResolution": "bundler", "jsx": "react", "jsxFactory": "h", "jsxFragmentFactory": "Fragment", "noUnusedLocals": True,
           "noUnusedParameters": True, "noImplicitReturns": True, "noUncheckedIndexedAccess": True, "skipLibCheck": True}


@pytest.fixture(scope="module")
def preact():
    prefix = subprocess.run([ROOT / "third_party/build"], capture_output=True, text=True, check=True, timeout=PATIENCE_S * 20).stdout.strip()
    return pathlib.Path(prefix) / "share/preact/src"


@pytest.fixture
def check(node_modules, preact, tmp_path):
    """tsc over a copy of the pages, of which `edit(folder)` may change something; what it says."""
    def run(edit=lambda folder: None):
        copy = tmp_path / "web"
        shutil.copytree(WEB / "kitchen", copy / "kitchen")
        shutil.copytree(WEB / "shared", copy / "shared")
        edit(copy)
        types = subprocess.run([ROOT / "scripts/api_types"], capture_output=True, check=True).stdout
        (tmp_path / "api.d.ts").write_bytes(types)
        paths = {"api": [str(tmp_path / "api.d.ts")], "preact": [str(preact / "index.d.ts")]}
        (tmp_path / "tsconfig.json").write_text(json.dumps(
            {"compilerOptions": {**OPTIONS, "types": [], "paths": paths}, "files": [str(copy / "kitchen/page.tsx")]}))
        return subprocess.run([node_modules / ".bin/tsc", "-p", tmp_path], capture_output=True, text=True, timeout=PATIENCE_S * 4).stdout
    return run


def change(folder, file, old, new):
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_types_are_right(check):
    assert check() == ""


@pytest.mark.parametrize("file, old, new, says", [
    ("kitchen/tickets.ts", "ticket.scheduled_for", "ticket.scheduled_at", "scheduled_at"),
    ("kitchen/screen.ts", "answer.body.next", "answer.body.after", "after"),
    ("shared/texts.ts", "  undo: 'Undo',", "  ", "undo"),
    ("shared/texts.ts", "  undo: 'Desfazer',", "  undone: 'Desfazer', undo: 'Desfazer',", "undone"),
    ("kitchen/page.tsx", "texts.noAnswer,", "texts.silence,", "silence")])
def test_what_the_api_or_a_language_does_not_have_is_an_error(check, file, old, new, says):
    told = check(lambda folder: change(folder, file, old, new))
    assert "error TS" in told and says in told


@pytest.mark.parametrize("story", sorted(path.stem.split(".")[0] for path in (HERE / "logic").glob("*.test.ts")))
def test_rules(story, tmp_path):
    bundle = tmp_path / "story.mjs"
    subprocess.run(["esbuild", HERE / f"logic/{story}.test.ts", "--bundle", "--platform=node", "--format=esm", f"--outfile={bundle}",
                    "--log-level=warning"], check=True, timeout=PATIENCE_S)
    done = subprocess.run(["node", "--test", bundle], capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_page_makes_markup_of_text():
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function|DOMParser")
    found = [(path.name, match[0]) for path in WEB.glob("[ks][ih]*/*.ts*") for match in forbidden.finditer(path.read_text())]
    assert found == []


def test_dark_is_the_same_by_setting_and_by_device():
    def dark(*names):
        return [token for name in names for token in re.findall(r"--[a-z-]+: [^;]+;", (WEB / "shared" / name).read_text().split("dark")[-1])]
    assert len(dark("themes.css")) > 15 and dark("themes.css") == dark("tokens.css", "states.css")


# The bundle

@pytest.fixture(scope="module")
def script():
    return (MADE / "kitchen.js").read_text()


def test_the_page_is_small(script):
    parts = [script.encode(), (MADE / "kitchen.css").read_bytes(), (WEB / "kitchen/page.html").read_bytes(),
             (WEB / "kitchen/worker.js").read_bytes(), (WEB / "shared/mark.svg").read_bytes()]
    sizes = [len(gzip.compress(part, 9, mtime=0)) for part in parts]
    assert sum(sizes) <= 40 * 1024, sizes


def test_the_scripts_are_of_2017(node_modules):
    """Two versions before Chrome 75 could read more, so that browsers of other makers of that time read it too."""
    parse = "require('acorn').parse(require('fs').readFileSync(process.argv[1], 'utf8'), {ecmaVersion: 8})"
    for file in (MADE / "kitchen.js", WEB / "kitchen/worker.js"):
        done = subprocess.run(["node", "-e", parse, file], capture_output=True, text=True, timeout=PATIENCE_S,
                              env={**os.environ, "NODE_PATH": str(node_modules)})
        assert done.returncode == 0, done.stderr
    later = "async function* f() {}"
    done = subprocess.run(["node", "-e", "require('acorn').parse(process.argv[1], {ecmaVersion: 8})", later], capture_output=True,
                          timeout=PATIENCE_S, env={**os.environ, "NODE_PATH": str(node_modules)})
    assert done.returncode != 0


def test_nothing_of_another_origin_is_in_it(script):
    urls = set(re.findall(r"[a-z]+://[^\"'` )]*", script + (MADE / "kitchen.css").read_text()))
    # Names of XML's kinds, which Preact gives to its elements.
    assert all(url.startswith("http://www.w3.org/") for url in urls), urls
