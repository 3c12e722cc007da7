"""A delivery app on localhost: what its calls answer, how often it was asked, and the file that describes it."""

import json
import threading

from support.box import PATIENCE_S
from support.https_server import Handler, HttpsServer
from support.openssl import make_pair

SECRET = "planted-secret-of-the-app-41c7"
TOKEN = "planted-token-of-the-app-98b2"


class DeliveryApp:
    """`answer` is what GET /status says: (status, headers, body), or a function of nothing that returns it."""

    def __init__(self, directory, name="fake"):
        self.name, self.pair = name, make_pair(directory, name)
        self.answer = (200, {}, b'{"state":"OPEN"}')
        self.tokens = 0
        self.asked = []  # (method, path, headers, body)
        self.refused_tokens = set()
        self.lock = threading.Lock()
        app = self

        class Asked(Handler):
            def handle_request(self, body):
                app.handle(self, body)

        self.server = HttpsServer(Asked, self.pair)

    @property
    def url(self):
        return f"https://localhost:{self.server.server_port}"

    def file(self, **changes):
        """The content of a file in providers.d."""
        bearer = {"Authorization": "Bearer ${token}"}
        return {"schema": 1, "provider_name": self.name, "display_name": "Fake", "countries": ["PE"],
                "docs": "https://example.com", "evidence": "sandbox", "evidence_date": "2026-11-25", "hosts": ["localhost"],
                "credentials": [{"name": "client_id"}, {"name": "client_secret", "secret": True}, {"name": "store_id"}],
                "token": {"method": "POST", "url": self.url + "/token", "access": "/access", "expires_in": "/ttl",
                          "form": {"id": "${client_id}", "secret": "${client_secret}"}},
                "status": {"url": self.url + "/status/${store_id}", "headers": bearer, "pending_http": [204],
                           "pending_retry_ms": [100, 100], "body_reauth": {"eq": ["/code", 10101]},
                           "body_ok": {"not": {"exists": "/error"}},
                           "rules": [{"if": {"eq": ["/state", "OPEN"]}, "then": "OPEN"},
                                     {"if": {"eq": ["/state", "PAUSED"]}, "then": "PAUSED", "until_from": "/until"},
                                     {"if": {"eq": ["/state", "NIGHT"]}, "then": "CLOSED", "reason": "out_of_hours"},
                                     {"if": {"eq": ["/id", 9007199254740993123]}, "then": "CLOSED", "reason": "blocked"}]},
                "limits": {"min_interval_s": 10}, **changes}

    def credentials(self):
        return {"client_id": "id of " + self.name, "client_secret": SECRET, "store_id": "store/1"}

    def connect(self, box, **changes):
        directory = box.data / "providers.d"
        directory.mkdir(exist_ok=True)
        (directory / f"{self.name}.json").write_text(json.dumps(self.file(**changes), indent=2))

    def add(self, box, check=True):
        """`comanda provider add`, to a running server."""
        return box.command("provider", "add", self.name, "--from", "-", "--data", str(box.data), check=check,
                           input=json.dumps(self.credentials()))

    def handle(self, request, body):
        with self.lock:
            self.asked.append((request.command, request.path, dict(request.headers), body))
        if request.path == "/token":
            with self.lock:
                self.tokens += 1
                token = f"{TOKEN}-{self.tokens}"
            return self.send(request, 200, {}, json.dumps({"access": token, "ttl": 3600}).encode())
        if request.headers["Authorization"] in self.refused_tokens:
            return self.send(request, 401, {}, b"")
        answer = self.answer() if callable(self.answer) else self.answer
        return self.send(request, *answer)

    def send(self, request, status, headers, body):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        if "Content-Length" not in headers:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def times_asked(self):
        return sum(path.startswith("/status") for _, path, _, _ in self.asked)

    def close(self):
        self.server.close()


def waits_for(event, state="OPEN"):
    """Answers when the threading.Event is set."""
    def answer():
        event.wait(PATIENCE_S * 2)
        return 200, {}, json.dumps({"state": state}).encode()
    return answer
