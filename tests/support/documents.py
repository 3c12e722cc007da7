"""The four documents for users, each with the commands that tests take out of it."""

import re

from support.box import ROOT

README, TECHNICIAN, OFFICE, INTEGRATOR = (
    ROOT / name for name in ("README.md", "systemd/README.md", "systemd/head-office/README.md", "src/web/README.md"))
DOCUMENTS = (README, TECHNICIAN, OFFICE, INTEGRATOR)


def headings(text):
    """[(level, title, where its line begins, where its text begins)] of Markdown."""
    return [(len(found[1]), found[2], found.start(), found.end()) for found in re.finditer(r"^(#+) (.*)\n", text, re.M)]


def section(document, title):
    """The text below a heading, with the headings of lower levels in it. `document` is a path, or a text."""
    text = document if isinstance(document, str) else document.read_text()
    ((level, _, _, begin),) = [heading for heading in headings(text) if heading[1] == title]
    ends = [start for other, _, start, _ in headings(text) if start >= begin and other <= level]
    return text[begin:ends[0] if ends else len(text)]


def commands(text, program=""):
    """The lines of code that begin with a program, at a document's margin."""
    return re.findall(rf"^    (?! )({re.escape(program)}.*)$", text, re.M)


def anchor(title):
    """What a link to a heading has behind #, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def without_code(text):
    """A Markdown text whose lines of code are empty."""
    lines, is_code, is_list = [], False, False
    for line in text.split("\n"):
        margin = len(line) - len(line.lstrip(" "))
        if line and margin == 0:
            is_list = bool(re.match(r"(-|\d+\.) ", line))
        # Code begins after an empty line, four columns beyond its surroundings.
        is_code = bool(line) and margin >= (6 if is_list else 4) and (is_code or not lines or lines[-1] == "")
        lines.append("" if is_code else line)
    return "\n".join(lines)


def broken_links(document):
    """The relative links of a document that lead to no file, or to no heading of it."""
    broken = []
    for link in re.findall(r"\]\(([^)]+)\)", without_code(document.read_text())):
        if "://" in link:
            continue
        path, _, heading = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or heading and heading not in {anchor(title) for _, title, _, _ in headings(target.read_text())}:
            broken.append(link)
    return broken
