"""README.md, systemd/README.md, systemd/head-office/README.md and src/web/README.md: their size, their links, and those of
their commands that no other test takes out of them."""

import json
import re
import shlex
import subprocess

import pytest

from support import documents
from support.box import BINARY, Box

LINES_OF_README, LINES_OF_PARAGRAPH, WIDTH = 150, 5, 127


def paragraphs(text):
    """[the lines of one], without code, tables and headings. An item of a list begins another one."""
    one = []
    for line in [*documents.without_code(text).split("\n"), ""]:
        begins = re.match(r" *(-|\d+\.) ", line)
        if one and (not line or begins or line.startswith(("|", "#"))):
            yield one
            one = []
        if line and not line.startswith(("|", "#")):
            one.append(line)


def ids(path):
    return str(path.relative_to(documents.ROOT))


def test_the_readme_stays_short():
    assert len(documents.README.read_text().splitlines()) <= LINES_OF_README


@pytest.mark.parametrize("document", [documents.TECHNICIAN, documents.OFFICE, documents.INTEGRATOR], ids=ids)
def test_paragraphs_stay_short(document):
    found = list(paragraphs(document.read_text()))
    assert len(found) > 50
    for lines in found:
        assert len(lines) <= LINES_OF_PARAGRAPH, "\n".join(lines)


@pytest.mark.parametrize("document", documents.DOCUMENTS, ids=ids)
def test_lines_stay_narrow(document):
    for lines in paragraphs(document.read_text()):
        assert all(len(line) <= WIDTH for line in lines), lines


@pytest.mark.parametrize("document", documents.DOCUMENTS, ids=ids)
def test_links_lead_to_files_and_headings(document):
    assert documents.broken_links(document) == []


@pytest.mark.parametrize("document", [documents.TECHNICIAN, documents.OFFICE, documents.INTEGRATOR], ids=ids)
def test_the_list_of_contents_names_every_section(document):
    text = document.read_text()
    contents = text[:text.index("\n## ")]
    for level, title, _, _ in documents.headings(documents.without_code(text)):
        assert level != 2 or f"(#{documents.anchor(title)})" in contents, title


def test_a_long_paragraph_and_a_broken_link_are_found(tmp_path):
    """The checks above can fail."""
    (tmp_path / "a.md").write_text("# A\n\n- one\n  two\n- three\n\nfour:\n\n    code\n    code\n\n[x](#b) [y](c.md) [z](#a) `` `\n")
    assert documents.broken_links(tmp_path / "a.md") == ["#b", "c.md"]
    assert [len(lines) for lines in paragraphs((tmp_path / "a.md").read_text())] == [2, 1, 1, 1]


def test_the_first_request_works():
    box = Box()
    box.bring_in()
    box.start()
    try:
        (command,) = re.findall(r"(?ms)^    (curl .*?[^\\])$", documents.section(documents.INTEGRATOR, "Send the first request"))
        command = command.replace("https://comanda.local:8443", f"https://localhost:{box.port}").replace("ca.crt", shlex.quote(str(box.data / "tls/ca.crt")))
        made = subprocess.run(["sh", "-c", command], env={"KEY": box.make_key()["key"], "PATH": "/usr/bin:/bin"},
                              capture_output=True, text=True, check=True)
        assert json.loads(made.stdout)["data"]["order_title"] == "Rosa"
    finally:
        assert box.discard() == 0


def test_a_key_is_made_as_the_technician_makes_it():
    box = Box()
    box.bring_in()
    try:
        (command,) = documents.commands(documents.section(documents.TECHNICIAN, "Make keys"))
        made = subprocess.run([BINARY, *shlex.split(command)[1:], "--data", str(box.data)], capture_output=True, text=True, check=True)
        assert re.search(r"^key  cmd_live_\w+$", made.stdout, re.M)
    finally:
        box.discard()
