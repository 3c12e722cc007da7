"""What accounts in delivery apps take of the memory."""

import json
import re

from support.box import Box
from support.order_app import OrderApp
from support.waiting import wait_until


def grown_to(directory, count):
    """The memory of a box with that many accounts, each asked for orders a few times; kB."""
    app = OrderApp(directory, "ifood")
    app.give_token = lambda method, body: (200, {"accessToken": "token-0", "expiresIn": 21_600})
    box = Box(options=["--webhook-networks", "127.0.0.0/8,::1/128", "--webhook-ca", str(app.pair.certificate)])
    try:
        box.bring_in()
        (box.data / "providers.d").mkdir()
        for number in range(count):
            file = {**app.file(), "provider_name": f"app{number}", "countries": ["PE"]}
            (box.data / f"providers.d/app{number}.json").write_text(json.dumps(file))
        box.start()
        for number in range(count):
            credentials = {"client_id": f"c{number}", "client_secret": f"s{number}", "merchant_id": "m-1"}
            box.command("provider", "add", f"app{number}", "--from", "-", "--data", str(box.data), input=json.dumps(credentials))
            box.command("provider", "mode", f"app{number}", "mirror", "--data", str(box.data))

        def has_asked():
            app.hurry(box)
            return len(app.polls) >= count * 3

        wait_until(has_asked, lambda: box.log_text()[-4000:])
        with open(f"/proc/{box.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])
    finally:
        box.kill_if_running()
        box.discard()
        app.close()


def test_ten_accounts_share_what_is_large(tmp_path):
    """The authorities of the system are half a megabyte once they are read."""
    without, with_ten = grown_to(tmp_path, 0), grown_to(tmp_path, 10)
    assert with_ten - without < 4_500, (without, with_ten)
