"""Waiting for a socket. poll() takes any descriptor, select() none above 1023."""

import select


def readable(sock, seconds):
    """Whether there is something to read, or its end, within `seconds`. A closed socket: ValueError."""
    return bool(which_readable([sock], seconds))


def which_readable(socks, seconds):
    """Those of them that have something to read, or have ended."""
    poll = select.poll()
    by = {}
    for sock in socks:
        if sock.fileno() < 0:
            raise ValueError("a closed socket")
        by[sock.fileno()] = sock
        poll.register(sock, select.POLLIN)
    return [by[fd] for fd, _ in poll.poll(max(0.0, seconds) * 1000)]
