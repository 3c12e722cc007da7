"""What is acknowledged is kept, whichever part of a head office fails while tills sell: three machines with etcd, Patroni and
PostgreSQL, two comanda-head and HAProxy, with the settings that are shipped. Each test prints how long nothing was acknowledged;
none asserts it, because machines are noisy.

Where another database server and another comanda-head take over at once, cursors may be refused (410): the new one cannot know
that no event was lost. Else each goes on."""

import os
import re
import shlex
import signal
import time

import pytest

from support import documents
from support.box import LONG
from support.head_office import FAILOVER_MAX_S
from support.head_office_tills import Moment, Shift
from support.waiting import wait_until

SEED = int(os.environ.get("COMANDA_SEED", "1"))
ROUNDS = range(SEED, SEED + (20 if LONG else 2))


@pytest.mark.parametrize("round", ROUNDS)
def test_a_killed_server_is_followed_by_its_standby(office, told, round):
    with Shift(office, round) as shift:
        moment = Moment(shift, round)
        office.serving_now().program.signal(signal.SIGKILL)
        moment.tell("comanda-head killed")
        # The machine that takes over is another one, but the data are where they were.
        assert "held since" not in office.serving_now().ask("/readyz")[1]
    assert shift.follower.started_again == 0


@pytest.mark.parametrize("round", ROUNDS)
def test_a_killed_primary_is_followed_by_the_synchronous_standby(office, told, round):
    with Shift(office, round) as shift:
        moment = Moment(shift, round)
        office.primary().kill_machine()
        moment.tell("primary killed")


@pytest.mark.parametrize("round", ROUNDS)
def test_a_planned_switchover_loses_nothing(office, told, round):
    with Shift(office, round) as shift:
        moment = Moment(shift, round)
        office.switch_over()
        moment.tell("switchover")
    assert shift.follower.started_again == 0


@pytest.mark.parametrize("round", ROUNDS)
def test_a_primary_that_hangs_is_left(office, told, round):
    with Shift(office, round) as shift:
        moment = Moment(shift, round)
        primary = office.primary()
        primary.signal_machine(signal.SIGSTOP)
        moment.tell("primary stopped")
        primary.signal_machine(signal.SIGCONT)
        shift.wait_for_answers(20)


@pytest.mark.parametrize("round", ROUNDS)
def test_a_server_that_hangs_is_followed_and_answers_nothing_when_it_wakes(office, told, round):
    with Shift(office, round) as shift:
        moment = Moment(shift, round)
        stopped = office.serving_now()
        stopped.program.signal(signal.SIGSTOP)
        moment.tell("comanda-head stopped")
        stopped.program.signal(signal.SIGCONT)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            status, said = stopped.ask("/v1/orders", office.key)
            assert status in (0, 503), said
        wait_until(lambda: "standby of" in stopped.ask("/readyz")[1], lambda: "it is no standby: " + stopped.program.text()[-3000:],
                   FAILOVER_MAX_S)
    assert shift.follower.started_again == 0


@pytest.mark.parametrize("round", ROUNDS)
def test_connections_that_haproxy_cuts_lose_nothing(office, told, round):
    with Shift(office, round) as shift:
        moment = Moment(shift, round)
        office.proxy.kill()
        office.start_proxy()
        moment.tell("HAProxy killed")
    assert shift.follower.started_again == 0


def test_a_cluster_that_is_there_gets_the_setting_that_the_document_says(office):
    """Patroni reads patroni.yml once: what is new in it is said to a cluster that runs, without a restart."""
    (line,) = re.findall(r"^ +patronictl -c \S+ (edit-config .*)$", documents.OFFICE.read_text(), re.M)
    words = shlex.split(line)
    name, _, value = words[-1].partition("=")

    def wait_for(wanted):
        shown = [0.0]
        wait_until(lambda: shown.append(float(office.wait_for_primary().psql(f"SHOW {name}", "postgres"))) or shown[-1] == wanted,
                   lambda: (name, shown[-1]), FAILOVER_MAX_S)

    office.patronictl(*words[:-1], f"{name}=0.25")
    wait_for(0.25)
    office.patronictl(*words)
    wait_for(float(value))
    assert f"{name}: {value}" in (documents.OFFICE.parent / "patroni.yml").read_text()
