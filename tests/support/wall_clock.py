"""A server whose wall clock is controlled by the test: it can step while the server runs, or be frozen. Only for x86_64.

A program reads the clock through a page of code that the kernel puts into its memory (the vDSO). Before the program has
run its first instruction, the code there is replaced by one that asks the kernel and adds a number, which the test can
change at any time. So it works at full speed, on a static program, and no other process sees it. What the kernel itself
measures with its clock is unaffected: timers, sleeps, the times of files."""

import contextlib
import ctypes
import os
import pathlib
import platform
import signal
import ssl
import struct

from support.box import Box, Client
from support.quick_client import context_without_dates
from support.waiting import wait_until

PTRACE_TRACEME, PTRACE_DETACH = 0, 17
READ_CLOCK = b"__vdso_clock_gettime"

# clock_gettime(clock, time): the system call; then for CLOCK_REALTIME, coarse or not, the seconds are added.
CODE = bytes.fromhex(
    "b8e4000000"      # mov eax, 228
    "0f05"            # syscall
    "85c0" "7513"     # test eax, eax; jnz end
    "85ff" "7405"     # test edi, edi; jz add
    "83ff05" "750a"   # cmp edi, 5; jne end
    "488b0d05000000"  # add: mov rcx, [rip + 5]
    "48010e"          # add [rsi], rcx
    "c3" "90")        # end: ret
# The same, but CLOCK_REALTIME is always the time that is stored behind the code: seconds, then nanoseconds.
FROZEN_CODE = bytes.fromhex(
    "b8e4000000"      # mov eax, 228
    "0f05"            # syscall
    "85c0" "751e"     # test eax, eax; jnz end
    "85ff" "7405"     # test edi, edi; jz set
    "83ff05" "7515"   # cmp edi, 5; jne end
    "488b0d15000000"  # set: mov rcx, [rip + 21]
    "48890e"          # mov [rsi], rcx
    "488b0d13000000"  # mov rcx, [rip + 19]
    "48894e08"        # mov [rsi + 8], rcx
    "c3" "909090909090")  # end: ret


def symbol(elf, name, size_min):
    """The address of a symbol in a shared object mapped in memory."""
    program_headers, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    tables = {}
    for n in range(count):
        kind, = struct.unpack_from("<I", elf, program_headers + n * size)
        offset, = struct.unpack_from("<Q", elf, program_headers + n * size + 8)
        while kind == 2:  # PT_DYNAMIC
            tag, value = struct.unpack_from("<QQ", elf, offset)
            offset += 16
            tables[tag] = value
            if tag == 0:
                break
    names, symbols = tables[5], tables[6]  # DT_STRTAB, DT_SYMTAB
    for at in range(symbols, len(elf) - 24, 24):
        start, = struct.unpack_from("<I", elf, at)
        if elf[names + start:].startswith(name + b"\0"):
            address, length = struct.unpack_from("<QQ", elf, at + 8)
            assert length >= size_min, "the kernel's function is smaller than ours"
            return address
    raise AssertionError("the kernel's vDSO has no " + name.decode())


class SockFilter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class SockProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(SockFilter))]


def refuse_adjtimex(libc):
    """Hides from the server whether the clock of this machine is synchronised, as a container does."""
    load, equals, answer, refused, allowed = 0x20, 0x15, 0x06, 0x00050001, 0x7fff0000
    steps = [(load, 0, 0, 0), (equals, 1, 0, 159), (equals, 0, 1, 305), (answer, 0, 0, refused), (answer, 0, 0, allowed)]
    filters = (SockFilter * len(steps))(*(SockFilter(*step) for step in steps))
    program = SockProgram(len(steps), filters)
    no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or \
            libc.prctl(set_seccomp, mode_filter, ctypes.byref(program), 0, 0) != 0:
        os._exit(98)


class ClientWithoutDates(Client):
    def tls(self):
        return context_without_dates(self.cafile)


class ClockBox(Box):
    """The clock runs, and is ahead of the true one by a number of seconds (64 bits behind the code). `synchronised`:
    the server believes that the system keeps its clock right, so that a jump counts at once."""

    code = CODE
    ahead_s = 0

    def __init__(self, *words, synchronised=False, **named):
        super().__init__(*words, **named)
        # The file whose existence says that the clock is synchronised, replaced by one that exists or does not.
        program = self.binary.read_bytes()
        file = b"/run/systemd/timesync/synchronized"
        assert program.count(file) == 1
        self.binary = self.data / "comanda-of-the-test"
        self.data.mkdir(exist_ok=True)
        self.binary.write_bytes(program.replace(file, b"/proc".rjust(len(file), b"/") if synchronised else file[:-1] + b"X"))
        self.binary.chmod(0o755)

    def launch(self):
        assert platform.machine() == "x86_64", "the code for another processor is yet to be written"
        libc = ctypes.CDLL(None, use_errno=True)

        def prepare():
            refuse_adjtimex(libc)
            libc.ptrace(PTRACE_TRACEME, 0, 0, 0)

        self.preexec = prepare
        super().launch()
        _, status = os.waitpid(self.process.pid, 0)
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTRAP, status
        self._replace_clock()
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        assert libc.ptrace(PTRACE_DETACH, self.process.pid, None, None) == 0

    def _replace_clock(self):
        maps = pathlib.Path(f"/proc/{self.process.pid}/maps").read_text().splitlines()
        begin, end = next(line.split()[0].split("-") for line in maps if line.endswith("[vdso]"))
        begin, end = int(begin, 16), int(end, 16)
        # Opened before the server denies access to its memory (PR_SET_DUMPABLE).
        self.memory = open(f"/proc/{self.process.pid}/mem", "r+b", buffering=0)
        self.memory.seek(begin)
        numbers = self._numbers()
        at = begin + symbol(self.memory.read(end - begin), READ_CLOCK, len(self.code) + len(numbers))
        self.memory.seek(at)
        self.memory.write(self.code + numbers)
        self.numbers_at = at + len(self.code)

    def _numbers(self):
        return struct.pack("<q", self.ahead_s)

    def _write_numbers(self):
        self.memory.seek(self.numbers_at)
        self.memory.write(self._numbers())

    def set_ahead(self, seconds):
        """The server's wall clock from now on, compared with the true one."""
        self.ahead_s = int(seconds)
        self._write_numbers()

    def start_at(self, ahead_s):
        """Waits for readiness by the log: a client that checks dates might have to refuse the certificate."""
        self.ahead_s = ahead_s
        seen = self.log_text().count("listening") if self.log_path.exists() else 0
        self.launch()

        def is_listening():
            assert self.process.poll() is None, self.log_text()
            return self.log_text().count("listening") > seen

        wait_until(is_listening, self.log_text)

    def client_without_dates(self, key=None):
        """A client that accepts a certificate that is valid at the wrong time of the box."""
        return ClientWithoutDates(self.port, key, str(self.cafile))


class FrozenClockBox(ClockBox):
    """A frozen clock, which shows the millisecond that the test has set, so that tests choose the stamp of every
    change, and several changes can share one. Clients ignore the validity dates of the server's certificate."""

    code = FROZEN_CODE

    def __init__(self, now_ms, **named):
        super().__init__(**named)
        self.now_ms = now_ms

    def _numbers(self):
        return struct.pack("<qq", self.now_ms // 1000, self.now_ms % 1000 * 1_000_000)

    def set_now(self, now_ms):
        self.now_ms = now_ms
        self._write_numbers()

    def client(self, key=None, address="127.0.0.1"):
        return ClientWithoutDates(self.port, key, str(self.cafile), address)


def is_accepted(box):
    """True if a client with the right time, which checks the dates of the certificate, is served."""
    try:
        with contextlib.closing(box.client()) as client:
            return client.get("/healthz").status == 200
    except ssl.SSLCertVerificationError:
        return False


def until(condition):
    """Waits until the condition is true; returns its value."""
    return wait_until(condition, "it did not come")
