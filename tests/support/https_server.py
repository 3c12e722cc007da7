"""An HTTPS server, on 127.0.0.1 unless said otherwise, with a thread of its own, for imitations and lines that fail."""

import http.server
import ssl
import sys
import threading
import traceback


class HttpsServer(http.server.ThreadingHTTPServer):
    """Runs from its construction until close(). `pair`: a support.openssl.Pair."""

    daemon_threads, request_queue_size, block_on_close = True, 128, False

    def __init__(self, handler, pair, port=0, address="127.0.0.1"):
        self.context = server_context(pair)
        self.failures = []  # mistakes of the handler
        super().__init__((address, port), handler)
        self.url = f"https://{address}:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()
        assert not self.failures, self.failures[0]

    def finish_request(self, request, client_address):
        # The handshake runs in the connection's own thread.
        with self.context.wrap_socket(request, server_side=True) as connection:
            self.serve(connection, client_address)

    def serve(self, connection, client_address):
        super().finish_request(connection, client_address)

    def handle_error(self, request, client_address):
        # A client may go at any time. Anything else is a mistake of the handler.
        if not isinstance(sys.exc_info()[1], OSError):
            self.failures.append(traceback.format_exc())


class Handler(http.server.BaseHTTPRequestHandler):
    """Calls handle_request(body) for each request."""

    protocol_version = "HTTP/1.1"
    # One packet for head and body.
    disable_nagle_algorithm, wbufsize = True, -1

    def read_and_handle(self):
        self.handle_request(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = read_and_handle

    def log_message(self, *_):
        pass


def server_context(pair):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    return context
