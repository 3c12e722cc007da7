"""Whatever fails of a head office, at whichever moment of the tills' work, alone or two at once: nothing that was acknowledged is
lost or doubled, no event is missing, and no cursor skips one. The seed chooses what, where, when and for how long; repeat one
with COMANDA_SEED."""

import os
import random
import signal
import threading
import time

import pytest

from support.box import LONG
from support.head_office_tills import Moment, Shift

SEED = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(1_000_000)))
SEEDS = range(SEED, SEED + (int(os.environ.get("COMANDA_HISTORIES", 200)) if LONG else 4))
STOPPED_MAX_S = 25


def hang(chosen, signal_to):
    """Stopped, and woken again."""
    seconds = chosen.uniform(0.5, STOPPED_MAX_S)

    def work():
        signal_to(signal.SIGSTOP)
        time.sleep(seconds)
        signal_to(signal.SIGCONT)

    return f"stopped for {seconds:.1f} s", work


def a_server(office, chosen):
    head = chosen.choice(office.heads)
    if chosen.random() < 0.5:
        return f"comanda-head of {head.node.name} killed", lambda: head.program.signal(signal.SIGKILL)
    how, work = hang(chosen, head.program.signal)
    return f"comanda-head of {head.node.name} {how}", work


def the_database_of_a_machine(office, chosen):
    """With its Patroni."""
    node = chosen.choice(list(office.nodes.values()))
    if chosen.random() < 0.5:
        return f"machine {node.name} killed", node.kill_machine
    how, work = hang(chosen, node.signal_machine)
    return f"machine {node.name} {how}", work


def postgresql_alone(office, chosen):
    node = chosen.choice(list(office.nodes.values()))

    def signal_to(number):
        for pid in node.postgres_pids():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    if chosen.random() < 0.5:
        return f"PostgreSQL of {node.name} killed", lambda: signal_to(signal.SIGKILL)
    how, work = hang(chosen, signal_to)
    return f"PostgreSQL of {node.name} {how}", work


def patroni_alone(office, chosen):
    """Its PostgreSQL goes on without it."""
    node = chosen.choice(list(office.nodes.values()))
    how, work = hang(chosen, node.patroni.signal)
    return f"Patroni of {node.name} {how}", work


def etcd_of_a_machine(office, chosen):
    node = chosen.choice(list(office.nodes.values()))
    if chosen.random() < 0.5:
        return f"etcd of {node.name} killed", node.etcd.kill
    how, work = hang(chosen, node.etcd.signal)
    return f"etcd of {node.name} {how}", work


def the_proxy(office, chosen):
    def work():
        office.proxy.kill()
        office.start_proxy()

    return "HAProxy killed", work


def a_switchover(office, chosen):
    return "switchover", office.switch_over


def a_promotion_by_hand(office, chosen):
    """Of the synchronous standby, while the primary is there. Patroni makes it a standby again, and an administrator has it copied
    anew, since its history is another one."""
    def work():
        standby = next((member["Member"] for member in office.members() if member["Role"] == "Sync Standby"), None)
        if standby:
            node = office.nodes[standby]
            node.run("pg_ctl", "promote", "-D", node.data, check=False)
            time.sleep(chosen.uniform(5, 15))
            office.patronictl("reinit", "comanda", standby, "--force")

    return "the synchronous standby promoted by hand", work


def connections(office, chosen):
    """All of the primary's, those of its standbys too."""
    def work():
        if primary := office.primary():
            primary.psql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                         "WHERE backend_type IN ('client backend', 'walsender') AND pid <> pg_backend_pid()", "postgres")

    return "the primary's connections ended", work


FAULTS = (a_server, the_database_of_a_machine, postgresql_alone, patroni_alone, etcd_of_a_machine, the_proxy, a_switchover,
          a_promotion_by_hand, connections)
# One machine with all that is on it, or two programs.
ALONE = {a_switchover, a_promotion_by_hand}


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_acknowledged_is_lost_whatever_fails(office, told, seed):
    chosen = random.Random(seed)
    first = FAULTS[seed % len(FAULTS)]
    faults = [first]
    if first not in ALONE and chosen.random() < 0.3:
        faults.append(chosen.choice([a_server, the_proxy, connections]))
    planned = [fault(office, chosen) for fault in faults]
    what = f"seed {seed}: " + ", ".join(text for text, _ in planned)
    print(what)
    with Shift(office, seed) as shift:
        moment = Moment(shift, seed)
        works = [threading.Thread(target=work) for _, work in planned]
        for work in works:
            work.start()
            time.sleep(chosen.random())
        for work in works:
            work.join()
        moment.tell(what)
    print(f"  {shift.orders()} orders, cursors refused: {shift.follower.started_again}")
