"""A server that is almost the box: in front of it on loopback, with one thing altered. Plain HTTP, or with the box's certificate."""

import http.server
import ssl
import threading

from support.box import Answer


class AlteringProxy:
    """`alter(method, path, answer)` gets each answer of the box (status, headers, body) and may change it."""

    left_out = {"content-length", "accept-encoding"}  # headers of requests that the box does not get as they are

    def __init__(self, box, alter, is_secure=False):
        self.box, self.alter, self.is_secure = box, alter, is_secure

    def __enter__(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # One packet for head and body: otherwise the body waits for the acknowledgement of the head (Nagle).
            disable_nagle_algorithm, wbufsize = True, -1

            def setup(self):
                super().setup()
                self.client = proxy.box.client()

            def finish(self):
                self.client.close()
                super().finish()

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
                headers = {n: v for n, v in self.headers.items() if n.lower() not in proxy.left_out}
                answer = self.client.send(self.command, self.path, body, headers)
                answer = Answer(answer.status, dict(answer.headers), answer.body)
                proxy.alter(self.command, self.path, answer)
                self.send_response_only(answer.status)
                bodiless = self.command == "HEAD" or answer.status in (204, 304)
                for name, value in answer.headers.items():
                    if name not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                if not bodiless:
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if not bodiless:
                    self.wfile.write(answer.body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = forward

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if self.is_secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.box.data / "tls/server.crt", self.box.data / "tls/server.key")
            # The handshake is made by the connection's own thread.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self):
        return f"http{'s' if self.is_secure else ''}://127.0.0.1:{self.server.server_port}"
