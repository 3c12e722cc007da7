"""A display that hangs, is mute or is gone: within 40 s another one says so, and it is right again by itself (contract section 20)."""

import os
import signal
import time

from support.kitchen_wall import STATIONS, until_shown
from support.waiting import PATIENCE_S, wait_until

PROMISED_S = 40
MUTE = """(() => {
  let state = 'running';
  Object.defineProperty(AudioContext.prototype, 'state', {get: () => state});
  AudioContext.prototype.resume = () => new Promise(() => undefined);
  window.mute = () => { state = 'suspended'; };
})()"""


class Process:
    """The renderer of a page that was opened meanwhile; that of each tablet is another one."""

    def __init__(self, browser):
        self.browser, self.before = browser, self.renderers(browser)

    @staticmethod
    def renderers(browser):
        return {each["id"] for each in browser.send(None, "SystemInfo.getProcessInfo")["processInfo"] if each["type"] == "renderer"}

    def signal(self, number):
        for process in self.renderers(self.browser) - self.before:
            os.kill(process, number)


def test_a_display_that_hangs_is_mute_or_gone_is_told_within_forty_seconds(wall):
    others = wall.display(name="Fría", query="?station=" + STATIONS["cold"])
    gone = wall.display(name="Barra", query="?station=" + STATIONS["bar"])
    mute = wall.display(name="Muda", query="?station=" + STATIONS["cold"], before=MUTE)
    process = Process(wall.browser)
    hung = wall.display(name="Parrilla", query="?station=" + STATIONS["hot"])
    first = wall.order(wall.dish("hot"), wall.dish("bar"))
    until_shown(hung, lambda cards: [card["order"] for card in cards] == [first["id"]])
    wait_until(lambda: hung.run("window.tones.length") == 3, lambda: hung.run("window.tones"))
    names = {row["id"]: row["name"] for row in wall.api.get("/v1/kitchen/stations").data}
    assert not any(words in others.text(".truth") for words in ("Nadie mira", "no suena")), others.text(".truth")

    process.signal(signal.SIGSTOP)
    try:
        broken_at = time.time()
        gone.close()
        mute.run("window.mute()")
        expected = [f"Nadie mira {names[STATIONS['hot']]}", f"Nadie mira {names[STATIONS['bar']]}", "Muda no suena"]
        said = {}

        def all_are_said():
            text = others.text(".truth")
            for words in expected:
                if words in text:
                    said.setdefault(words, time.time() - broken_at)
            return len(said) == len(expected)

        wait_until(all_are_said, lambda: (said, others.text(".truth")), PROMISED_S + PATIENCE_S)
        print("said after", {words: f"{after:.0f} s" for words, after in said.items()})
        since = [row["unwatched_since"] for row in wall.api.get("/v1/kitchen/stations").data if row["unwatched_since"]]
        assert len(since) == 2
        assert min(said.values()) <= max(said.values()) <= PROMISED_S, said
        # What happens meanwhile: an order, another that is cancelled, one that is done elsewhere.
        second, third = wall.order(wall.dish("hot", 1)), wall.order(wall.dish("hot", 2))
        wall.cancel(third)
        wall.api.post(f"/v1/kitchen/tickets/{first['id']}/out", {})
    finally:
        process.signal(signal.SIGCONT)

    looks = {second["id"]: "waits", third["id"]: "cancelled"}
    until_shown(hung, lambda cards: {card["order"]: card["lines"][0][1] for card in cards} == looks)
    hung.until("document.querySelector('.silent') === null")
    others.until(f"!document.querySelector('.truth').innerText.includes({expected[0]!r})")
    # Three notes for the first order, three for what came meanwhile, three for what was cancelled; and no more with the next answers.
    fourth = wall.order("Fuera de carta")
    until_shown(hung, lambda cards: fourth["id"] in [card["order"] for card in cards])
    wait_until(lambda: hung.run("window.tones.length") >= 12, lambda: hung.run("window.tones"))
    assert hung.run("window.tones.length") == 12
    assert [page.errors for page in (others, mute, hung)] == [[], [], []]
    for page in (others, mute, hung):
        page.close()
    wall.clear()
