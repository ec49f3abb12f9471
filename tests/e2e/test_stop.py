"""Signals: what a stop finishes, answers and refuses, and when it ends (design section 3)."""

import os
import signal
import threading
import time

import pytest

from harness.serving import SLACK, get, is_refused, send, status, wait_for


@pytest.mark.parametrize(
    "number, listen",
    [
        (signal.SIGTERM, "127.0.0.1:0"),
        (signal.SIGINT, "127.0.0.1:0"),
        (signal.SIGQUIT, "127.0.0.1:0"),
        (signal.SIGTERM, "0.0.0.0:0"),  # closes a little later: a remote client's handshake may be on its way
        (signal.SIGTERM, "unix:{}/stop.sock"),
    ],
)
def test_stop_finishes_what_runs_and_refuses_what_comes(serve, number, listen):
    server = serve(workers=2, listen=listen.format(serve.directory), extra="allow_anonymous: true")
    with server.connect() as busy:
        send(busy, "/v1/slow/1500")
        time.sleep(0.3)
        server.signal(number)
        time.sleep(0.2)
        assert is_refused(server)
        assert status(busy) == 200
    assert server.wait_exit(2) == 0
    assert server.complaints() == []


def test_connections_right_at_the_stop_are_answered_or_refused(serve):
    """Closing a listener resets its queue: no client may get into it and then be dropped."""
    server = serve(workers=2)
    results = []

    def client():
        while len(results) < 100000:
            try:
                with server.connect(timeout=5) as c:
                    send(c)
                    results.append(status(c))
            except ConnectionRefusedError:
                results.append("refused")
                return
            except OSError as error:
                results.append(repr(error))
                return

    clients = [threading.Thread(target=client) for _ in range(8)]
    for c in clients:
        c.start()
    time.sleep(0.5)
    server.signal(signal.SIGTERM)
    for c in clients:
        c.join(10)
    assert server.wait_exit(5) == 0
    assert set(results) == {200, "refused"}
    assert results.count("refused") == 8


def test_stop_answers_what_was_queued(serve):
    server = serve(workers=2)
    workers = server.workers()
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    queued = [server.connect() for _ in range(30)]
    for c in queued:
        send(c)
    server.signal(signal.SIGTERM)
    time.sleep(0.5)
    for pid in workers:
        os.kill(pid, signal.SIGCONT)
    answers = [status(c) for c in queued]
    for c in queued:
        c.close()
    assert answers == [200] * 30
    assert server.wait_exit(5) == 0


def test_drain_limit(serve):
    server = serve(drain="1s")
    with server.connect() as busy:
        send(busy, "/v1/slow/20000")
        time.sleep(0.3)
        begun = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.wait_exit(6) == 0
        assert 0.9 < time.monotonic() - begun < 1.5 + SLACK


def test_second_signal_ends_at_once(serve):
    server = serve(drain="60s")
    with server.connect() as busy:
        send(busy, "/v1/slow/20000")
        time.sleep(0.3)
        server.signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.process.poll() is None
        begun = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.wait_exit(3) == 0
        assert time.monotonic() - begun < 0.5 + SLACK / 2


def test_second_signal_ends_even_a_hung_worker(serve):
    server = serve(drain="60s")
    for pid in server.workers():
        os.kill(pid, signal.SIGSTOP)
    server.signal(signal.SIGTERM)
    time.sleep(0.2)
    server.signal(signal.SIGTERM)
    assert server.wait_exit(2) == 0


def test_interrupt_of_the_whole_process_group_drains(serve):
    server = serve()
    with server.connect() as busy:
        send(busy, "/v1/slow/1000")
        time.sleep(0.3)
        os.killpg(server.pid, signal.SIGINT)  # Ctrl-C
        assert status(busy) == 200
    assert server.wait_exit(2) == 0


def test_other_signals_do_not_end_it(serve):
    server = serve()
    server.signal(signal.SIGUSR1)
    wait_for(lambda: "the logs are opened anew" in server.log_text(), 3, "a log line")
    assert get(server) == 200
