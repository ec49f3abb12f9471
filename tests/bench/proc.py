"""What /proc tells about the processes that are measured."""
import os


def family(pid):
    """`pid` and all its descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as f:
                parents[int(name)] = int(f.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has just ended
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def thread_seconds(pid, thread):
    """CPU time of one thread. schedstat counts nanoseconds; utime + stime only where the kernel has no schedstat."""
    base = f"/proc/{pid}/task/{thread}"
    try:
        with open(f"{base}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e9
    except FileNotFoundError:
        with open(f"{base}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids):
    """CPU time of all threads of the processes."""
    return sum(thread_seconds(pid, thread) for pid in pids for thread in os.listdir(f"/proc/{pid}/task"))


def pss_bytes(pids, without=None):
    """Proportional memory of the processes together; mappings whose file begins with `without` are left out."""
    total = 0
    for pid in pids:
        counted = True
        with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
            for line in f:
                words = line.split()
                if words[0].endswith(":"):
                    if counted and words[0] == "Pss:":
                        total += int(words[1]) * 1024
                else:  # the first line of a mapping; its file, when it has one, is the sixth word
                    counted = without is None or len(words) < 6 or not words[5].startswith(without)
    return total
