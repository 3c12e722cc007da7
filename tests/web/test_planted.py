"""Mistakes that the rules of the pages must catch: each is put into a copy of the sources, and its story must fail."""

import shutil
import subprocess

import pytest

from support.box import PATIENCE_S, ROOT

MISTAKES = {
    "the cursor moves before what came is drawn": (
        "shared/live.ts", "    await this.feed.drawn();\n    this.cursor = news.next;", "    this.cursor = news.next;", "live"),
    "an error moves the cursor": ("shared/live.ts", "failures++;", "failures++; this.cursor = 'c9';", "live"),
    "ages are of the tablet": ("shared/time.ts", "return this.offset === null ? Date.now()", "return this.offset !== null ? Date.now()", "time"),
    "a cancelled line vanishes": ("kitchen/tickets.ts", "return isSeen ? 'done' : 'cancelled';", "return 'done';", "tickets"),
    "a lower revision is taken": ("kitchen/tickets.ts", "known > listed.revision", "known > listed.revision + 1000", "tickets"),
    "marks are lost on a reload": ("kitchen/marks.ts", "of this.keeping.all()", "of [] as Mark[]", "marks"),
    "a chime twice": ("kitchen/tickets.ts", "            heard.isNew = true;\n            this.ids.add(line.id);", "            heard.isNew = true;", "tickets"),
    "what is on the glass is forgotten": ("kitchen/tickets.ts", "      if (present.has(id)) continue;\n", "", "tickets"),
    "what is shown is forgotten": ("kitchen/tickets.ts", "      if (this.shown.has(id)) continue;\n", "", "tickets"),
    "undo sends": ("kitchen/marks.ts", "    this.settled(last.mark);\n", "", "marks"),
    "a tab undoes what another one has marked": ("kitchen/marks.ts", "each.dueAt > this.now() && this.isMine(each)", "each.dueAt > this.now()", "marks"),
    "a tab sends what another one has undone": ("kitchen/marks.ts", " && !this.keeping.has(each.mark)", " && false", "marks"),
    "a mark is sent before its time to undo is over": ("kitchen/marks.ts", "canUndo ? UNDO_MS : 0", "canUndo ? 0 : 0", "marks"),
    "the cloud is blamed for an internet that is away": (
        "kitchen/truth.ts", " && !(isDown && sync.code === 'unreachable')", "", "truth"),
    "an internet that is away is not said where there is no cloud": (
        "kitchen/truth.ts", "internet.code === 'down';", "internet.code === 'down' && sync.code !== 'not_linked';", "truth"),
    "marks of an order change places": ("kitchen/marks.ts", "before[each.mark.subject] = true;", "", "marks"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_caught(mistake, tmp_path):
    file, right, wrong, story = MISTAKES[mistake]
    shutil.copytree(ROOT / "src/web", tmp_path / "src/web")
    shutil.copytree(ROOT / "tests/web/logic", tmp_path / "tests/web/logic")
    path = tmp_path / "src/web" / file
    text = path.read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    bundle = tmp_path / "story.mjs"
    subprocess.run(["esbuild", tmp_path / f"tests/web/logic/{story}.test.ts", "--bundle", "--platform=node", "--format=esm",
                    f"--outfile={bundle}", "--log-level=warning"], check=True, timeout=PATIENCE_S)
    done = subprocess.run(["node", "--test", bundle], capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert done.returncode != 0
