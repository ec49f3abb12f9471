"""Deaths of workers and of the master: who is replaced when, who serves meanwhile (design section 3)."""

import os
import signal
import time

from harness.serving import alive, get, send, stats, status, wait_for


# ---- deaths of workers


def test_killed_worker_is_back_within_a_second_while_others_serve(serve):
    server = serve(workers=3)
    before = server.workers()
    os.kill(before[0], signal.SIGKILL)
    until = time.monotonic() + 1
    answers = []
    while time.monotonic() < until:
        answers.append(get(server))
        if before[0] not in server.workers() and len(server.workers()) == 3 and len(answers) > 50:
            break
    after = server.workers()
    assert len(after) == 3 and before[0] not in after
    assert set(answers) == {200}
    assert "was ended by signal 9 (Killed)" in server.log_text()


def test_death_of_a_worker_loses_no_queued_connection(serve):
    server = serve(workers=2)
    victim = server.workers()[0]
    os.kill(victim, signal.SIGSTOP)
    queued = [server.connect() for _ in range(40)]
    for c in queued:
        send(c)
    time.sleep(0.3)  # what the other worker takes, it has taken
    os.kill(victim, signal.SIGKILL)
    answers = [status(c) for c in queued]
    for c in queued:
        c.close()
    assert answers == [200] * 40


def test_sockets_of_a_crash_looping_worker_are_served(serve):
    """Killed again and again, a slot waits between its workers: the neighbour answers meanwhile."""
    server = serve(workers=2)
    survivor = server.workers()[0]
    deaths = 0
    until = time.monotonic() + 4
    while time.monotonic() < until:
        for pid in server.workers():
            if pid != survivor:
                os.kill(pid, signal.SIGKILL)
                deaths += 1
        time.sleep(0.05)
        # Two tries: the connection that a dying worker had just accepted is lost with it.
        assert 200 in (get(server), get(server))
    assert 3 <= deaths < 20  # it comes back, but not in a busy loop
    wait_for(lambda: len(server.workers()) == 2, 4, "the slot has a worker again")
    assert survivor in server.workers()


def test_worker_without_heartbeat_is_replaced_unless_all_were_stopped(serve):
    """Ten seconds, for a hung worker and, beside it, for a server whose machine sleeps: master and all."""
    server, sleeper = serve(workers=2), serve(workers=2)
    victim, asleep = server.workers()[0], sleeper.workers()
    os.kill(victim, signal.SIGSTOP)
    os.killpg(sleeper.pid, signal.SIGSTOP)
    begun = time.monotonic()
    wait_for(lambda: not alive(victim), 14, "the hung worker is gone")
    assert time.monotonic() - begun > 8
    wait_for(lambda: len(server.workers()) == 2, 2, "it is replaced")
    assert "gave no heartbeat" in server.log_text()
    assert [get(server) for _ in range(20)] == [200] * 20
    time.sleep(max(0, begun + 11.5 - time.monotonic()))
    os.kill(sleeper.pid, signal.SIGCONT)  # the master first: it sees old heartbeats only
    time.sleep(0.5)
    os.killpg(sleeper.pid, signal.SIGCONT)
    time.sleep(1.5)
    assert sleeper.workers() == asleep
    assert sleeper.complaints() == []
    assert get(sleeper) == 200


def test_three_quick_deaths_of_all_workers_give_a_fresh_table(serve):
    server = serve(workers=2)
    assert [get(server) for _ in range(5)] == [200] * 5
    assert stats(server)["counters"]["connections"] >= 5
    for _ in range(3):
        victims = wait_for(
            lambda: len(server.workers()) == 2 and len(stats(server)["workers"]) == 2 and server.workers(),
            5,
            "both workers serve",
        )
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not any(alive(pid) for pid in victims), 2, "both are gone")
    wait_for(lambda: "fresh shared table" in server.log_text(), 5, "a log line")
    wait_for(lambda: len(server.workers()) == 2, 5, "workers are back")
    assert get(server) == 200
    assert stats(server)["counters"]["connections"] < 5


def test_one_worker_killed_each_second_keeps_the_table(serve):
    server = serve(workers=3)
    inode = os.stat(f"/dev/shm{server.name}").st_ino
    for _ in range(5):
        os.kill(server.workers()[0], signal.SIGKILL)
        time.sleep(1)
        assert 200 in (get(server), get(server))
    assert os.stat(f"/dev/shm{server.name}").st_ino == inode
    assert "fresh shared table" not in server.log_text()


# ---- death of the master


def test_workers_finish_and_leave_when_the_master_is_killed(serve):
    server = serve(workers=2)
    workers = server.workers()
    with server.connect() as busy:
        send(busy, "/v1/slow/1500")
        time.sleep(0.3)
        server.signal(signal.SIGKILL)
        server.wait_exit(5)
        assert status(busy) == 200
    wait_for(lambda: not any(alive(p) for p in workers), 3, "workers leave")


def test_same_address_is_free_at_once_after_the_master_is_killed(serve):
    first = serve(workers=2)
    port = first.port()
    first.signal(signal.SIGKILL)
    assert first.wait_exit(5) == -signal.SIGKILL
    second = serve(name=first.name, listen=f"127.0.0.1:{port}")
    assert get(second) == 200
