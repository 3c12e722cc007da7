"""Listening sockets that systemd passes (sd_listen_fds(3)) and stores (sd_notify(3)), with this test in systemd's place."""

import array
import contextlib
import fcntl
import os
import socket
import subprocess
import threading

import pytest

from support.box import BINARY, PATIENCE_S, RUNNER, Box, free_port
from support.waiting import wait_until


class Manager(Box):
    """A box that is started with descriptors and a notification socket."""

    def __init__(self, **more):
        super().__init__(**more)
        self.passed = []  # (name, socket)
        self.stored = {}  # {name: [descriptors]}, as systemd keeps them
        self.messages = []
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify_path = str(self.data / "notify.sock")
        self._notify.bind(self._notify_path)
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self):
        while True:
            message, ancillary, _, _ = self._notify.recvmsg(4096, socket.CMSG_SPACE(4))
            received = array.array("i")
            for level, kind, data in ancillary:
                assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
                received.frombytes(data)
            fields = dict(line.split("=", 1) for line in message.decode().splitlines())
            self.messages.append(fields)
            if "FDSTORE" in fields:
                self.stored.setdefault(fields["FDNAME"], []).extend(received)
            elif "FDSTOREREMOVE" in fields:
                for fd in self.stored.pop(fields["FDNAME"], []):
                    os.close(fd)
            else:
                for fd in received:  # of a barrier
                    os.close(fd)

    def wait_ready(self):
        """Until its message has come, too: what was to be stored came before."""
        super().wait_ready()
        wait_until(lambda: any("READY" in fields for fields in self.messages), "the message that it is ready")

    def launch(self):
        self.messages.clear()
        descriptors = [(name, one.fileno()) for name, one in self.passed]
        descriptors += [(name, fd) for name, all_ in self.stored.items() for fd in all_]
        names = ":".join(name for name, _ in descriptors)

        # Raised above the places where they are to be, so that none is overwritten.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 200) for _, fd in descriptors]

        def place():
            for index, fd in enumerate(high):
                os.dup2(fd, 3 + index)

        script = 'LISTEN_PID=$$; export LISTEN_PID; exec "$@"'
        environment = {**os.environ, "NOTIFY_SOCKET": self._notify_path}
        if descriptors:
            environment |= {"LISTEN_FDS": str(len(descriptors)), "LISTEN_FDNAMES": names}
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", script, "sh", *RUNNER, str(self.binary), "serve", "--data", str(self.data),
                 "--listen", f"127.0.0.1:{self.port}", *self.options],
                stdout=log, stderr=subprocess.STDOUT, env=environment, preexec_fn=place,
                pass_fds=range(3, 3 + len(descriptors)))
        for fd in high:
            os.close(fd)


def listener(address="127.0.0.1", kind=socket.SOCK_STREAM, port=None):
    one = socket.socket(socket.AF_INET, kind)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((address, port or free_port()))
    if kind == socket.SOCK_STREAM:
        one.listen()
    return one


@pytest.fixture
def box():
    box = Manager()
    yield box
    assert box.discard() == 0


def serves(box, port):
    with contextlib.closing(box.client()) as client:
        client.port = port
        return client.get("/healthz").status == 200


def open_listeners(box):
    """The inodes of its listening TCP sockets."""
    listening = {line.split()[9] for line in open("/proc/net/tcp").readlines()[1:] if line.split()[3] == "0A"}
    found = []
    for fd in os.listdir(f"/proc/{box.process.pid}/fd"):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{box.process.pid}/fd/{fd}")
            if target.startswith("socket:[") and target[8:-1] in listening:
                found.append(target[8:-1])
    return found


def test_a_socket_of_any_name_is_one_more_address(box):
    with listener() as one:
        box.passed = [("comanda-https.socket", one)]
        box.start()
        assert serves(box, box.port) and serves(box, one.getsockname()[1])
        address = "127.0.0.1:%d" % one.getsockname()[1]
        box.wait_for_log(f'took over a listener address={address} from=comanda-https.socket for=listen')
        assert len(set(open_listeners(box))) == 2


def test_a_socket_on_the_settings_address_takes_its_place(box):
    with listener(port=box.port) as one:
        box.passed = [("own.socket", one)]
        box.start()
        assert serves(box, box.port)
        assert "listen" not in box.stored  # it is systemd's anyway


def test_the_setup_socket_speaks_plain_http(box):
    with listener() as one:
        box.passed = [("comanda-setup.socket", one)]
        box.start()
        with socket.create_connection(one.getsockname(), timeout=PATIENCE_S) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"https_required" in client.makefile("rb").read()


def test_its_own_listener_is_stored_and_taken_over(box):
    box.start()
    assert list(box.stored) == ["listen"] and len(box.stored["listen"]) == 1
    box.stop()
    # Nobody accepts, and nobody is refused.
    waiting = socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S)
    box.start()
    tls = box.client().tls().wrap_socket(waiting, server_hostname="localhost")
    tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert tls.makefile("rb").read().startswith(b"HTTP/1.1 200 ")
    tls.close()
    assert len(box.stored["listen"]) == 1
    box.wait_for_log("from=\"the process before\" for=listen")


def test_a_connection_during_the_stop_waits_for_the_next_process(box):
    """The process drains for as long as a request is under way; it must not accept what it will not serve."""
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as slow, contextlib.closing(box.client(key)) as other:
        slow.connect()
        # Half a request keeps the process from ending.
        slow.connection.sock.sendall(b"POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key.encode() +
                                     b"\r\nContent-Type: application/json\r\nIdempotency-Key: x\r\nContent-Length: 30\r\n\r\n")
        other.get("/healthz")
        box.signal(15)
        while other.connection and other.get("/v1/orders").status != 503:
            pass
        waiting = socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S)
        slow.connection.sock.sendall(b'{"service_type":"TAKEAWAY"}   ')
        assert slow.connection.sock.recv(12).startswith(b"HTTP/1.1 ")
    box.process.wait(PATIENCE_S)
    box.start()
    tls = box.client().tls().wrap_socket(waiting, server_hostname="localhost")
    tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert tls.makefile("rb").read().startswith(b"HTTP/1.1 200 ")
    tls.close()


def test_another_setting_closes_the_stored_listener(box):
    box.start()
    box.stop()
    before, box.port = box.port, free_port()
    box.start()
    assert serves(box, box.port)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", before))
    assert len(box.stored["listen"]) == 1
    box.wait_for_log("closed the former listener: the setting has changed")


def test_another_address_on_the_same_port_waits_until_the_port_is_free(box):
    box.start()
    box.stop()
    box.options += ["--listen", f"0.0.0.0:{box.port}"]
    box.start()
    assert serves(box, box.port)


def test_what_is_no_listening_tcp_socket_is_named_and_not_used(box, tmp_path):
    local = socket.socket(socket.AF_UNIX)
    local.bind(str(tmp_path / "s"))
    local.listen()
    silent = socket.socket()
    with listener(kind=socket.SOCK_DGRAM) as datagram, local, silent, open(os.devnull) as file:
        box.passed = [("datagram.socket", datagram), ("local.socket", local), ("silent", silent), ("file", file)]
        box.start()
        assert serves(box, box.port)
        for name in ("datagram.socket", "local.socket", "silent", "file"):
            box.wait_for_log(f'from={name}')
        assert box.log_text().count("ignored a socket of systemd that is no listening TCP socket") == 4


@pytest.mark.parametrize("variables", [
    {"LISTEN_PID": "1", "LISTEN_FDS": "1"}, {"LISTEN_FDS": "1"}, {"LISTEN_PID": "x", "LISTEN_FDS": "y"},
    {"LISTEN_PID": "0", "LISTEN_FDS": "99999999999999999999"}])
def test_variables_for_another_process_are_ignored(variables, tmp_path):
    box = Box(data=tmp_path, env=variables).start()
    assert "took over" not in box.log_text()
    assert box.discard() == 0


@pytest.mark.box_only
def test_a_port_below_1024_without_the_right_says_what_to_do(tmp_path):
    words = [*RUNNER, str(BINARY), "serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:443"]
    if os.getuid() == 0:
        words = ["setpriv", "--bounding-set=-net_bind_service", *words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 70
    assert "cannot listen on 127.0.0.1:443: Permission denied" in done.stderr and "comanda-https.socket" in done.stderr
