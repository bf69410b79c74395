"""Measures hosts as whole processes; called by figures.sh, and used by stated.

Arguments: starts, seconds of idling, seconds to settle before, and for each host
`name:most milliseconds to READY:most megabytes of anonymous memory:path`.
"""

import glob
import os
import signal
import statistics
import sys
import tempfile
import time


def start(hostd, state, slatefile="slatefile.json"):
    """Starts a host and waits for its READY. Returns its id and the milliseconds that took."""
    reader, writer = os.pipe()
    began = time.monotonic_ns()
    process = os.posix_spawn(
        hostd,
        [hostd, "--slatefile", slatefile, "--state-dir", state],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_OPEN, 2, state + ".log", os.O_WRONLY | os.O_CREAT, 0o600),
        ],
    )
    os.close(writer)
    line = os.read(reader, 4096)
    took = (time.monotonic_ns() - began) / 1e6
    os.close(reader)
    if not line.startswith(b"ready "):
        with open(state + ".log") as log:
            sys.exit(f"{hostd} did not get ready:\n{log.read()}")
    return process, took


def stop(process):
    os.kill(process, signal.SIGTERM)
    _, status = os.waitpid(process, 0)
    if status != 0:
        sys.exit(f"hostd ended with {os.waitstatus_to_exitcode(status)} instead of 0")


def field(path, name):
    with open(path) as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    sys.exit(f"no {name} in {path}")


def switches(process):
    """How often each thread of a process was put to sleep or made way for another."""
    return {
        path: field(path, "voluntary_ctxt_switches") + field(path, "nonvoluntary_ctxt_switches")
        for path in glob.glob(f"/proc/{process}/task/*/status")
    }


def wakeups_between(before, after):
    """A thread that came or went had to run for it."""
    ended = len(before.keys() - after.keys())
    return ended + sum(count - before.get(path, 0) for path, count in after.items())


def main():
    starts, idle, settle = (int(word) for word in sys.argv[1:4])
    missed = False
    print(f"| hostd | exec to READY, ms (median of {starts}) | anonymous memory, MB | wake-ups in {idle} s |")
    print("|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for host in sys.argv[4:]:
            name, most_time, most_memory, hostd = host.split(":", 3)
            state = os.path.join(folder, name)
            times = []
            for _ in range(starts):
                process, took = start(hostd, state)
                stop(process)
                times.append(took)
            process, _ = start(hostd, state)
            # What a module still had to do after READY is done by then, and idle threads have ended.
            time.sleep(settle)
            memory = field(f"/proc/{process}/status", "RssAnon") / 1024
            before = switches(process)
            time.sleep(idle)
            wakeups = wakeups_between(before, switches(process))
            stop(process)
            missed = missed or memory > float(most_memory) or wakeups > 0
            print(
                f"| {name} | {statistics.median(times):.2f} (at most {most_time}) "
                f"| {memory:.2f} (at most {most_memory}) | {wakeups} (none) |"
            )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
