"""A Turnpike with mounts of its own: small disks, another /dev/log. They go with its processes; nothing outside changes."""

import functools
import os
import subprocess

import pytest

from .turnpike import BINARY


@functools.cache
def _possible():
    done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    return done.returncode == 0


def start_with(t, *lines, exec_by=""):
    """Starts t (made with start=False) after these lines of shell, in a mount namespace of its own.  `exec_by`: what
    becomes Turnpike, as `setpriv --reuid=65534`."""
    if not _possible():
        pytest.skip("mounts cannot be made here")
    script = os.path.join(t.folder, "start" + t.name.strip("/"))
    with open(script, "w") as out:
        out.write("#!/bin/sh -e\n")
        out.write('if [ -z "$TEST_MOUNTS" ]; then TEST_MOUNTS=own exec unshare -m "$0" "$@"; fi\n')
        out.write("\n".join(lines) + '\nexec %s %s "$@"\n' % (exec_by, BINARY))
    os.chmod(script, 0o755)
    t.binary = script
    return t.start()


def inside(t, path):
    """The path as the server sees it."""
    return "/proc/%d/root%s" % (t.pid, path)


def small_disk(path, size):
    return "mount -t tmpfs -o size=%s,mode=755 none %s" % (size, path)


def own_dev(folder, *links):
    """A /dev in `folder` with what Turnpike needs, and links (name, target)."""
    os.mkdir(folder)
    names = " ".join(("null", "zero", "full", "random", "urandom", "tty"))
    return ["mount -t tmpfs none %s" % folder, "mkdir %s/shm" % folder, "mount --rbind /dev/shm %s/shm" % folder,
            "for n in %s; do touch %s/$n; mount --bind /dev/$n %s/$n; done" % (names, folder, folder),
            "ln -s /proc/self/fd %s/fd" % folder,
            *["ln -s %s %s/%s" % (target, folder, name) for name, target in links],
            "mount --rbind %s /dev" % folder]
