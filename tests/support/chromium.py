"""A browser that trusts certificate authorities: Chromium without a window, in a home directory of its own."""

import pathlib
import re
import subprocess

from support.box import PATIENCE_S

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
         "--disable-component-update", "--no-first-run", "--hide-scrollbars"]


class Chromium:
    """`entering`: words before each command, for a machine of its own (support/lan.py)."""

    def __init__(self, home, authorities, entering=()):
        self.home, self.entering = pathlib.Path(home), list(entering)
        store = self.home / ".pki/nssdb"
        if not store.exists():
            store.mkdir(parents=True)
            self._run("certutil", "-d", f"sql:{store}", "-N", "--empty-password")
            for number, file in enumerate(authorities):
                self._run("certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", f"authority {number}", "-i", str(file))

    def _run(self, *words):
        done = subprocess.run([*self.entering, "env", f"HOME={self.home}", f"XDG_CONFIG_HOME={self.home}", *words],
                              capture_output=True, text=True, timeout=PATIENCE_S * 4)
        assert done.returncode == 0, (words, done.returncode, done.stderr[-3000:])
        return done

    def _load(self, url, *flags):
        """(standard output, the error that kept it from the page or "")."""
        done = self._run("chromium", *FLAGS, *flags, f"--user-data-dir={self.home}/profile", url)
        trouble = re.search(r"Page load failed: net::(ERR_\w+)", done.stderr)
        return done.stdout, trouble[1] if trouble else ""

    def page(self, url):
        """The document that it shows, as HTML."""
        text, trouble = self._load(url, "--dump-dom")
        assert not trouble, trouble
        return text

    def screenshot(self, url, file, width=1280, height=900, *flags):
        _, trouble = self._load(url, *flags, f"--window-size={width},{height}", f"--screenshot={file}")
        assert not trouble, trouble

    def accepts(self, url):
        """Whether it connects; False where it does not trust the certificate."""
        _, trouble = self._load(url, "--dump-dom")
        assert not trouble or trouble.startswith("ERR_CERT_"), trouble
        return not trouble
