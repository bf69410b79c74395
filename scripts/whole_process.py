"""Measures hosts as whole processes, beside a bare one in C; called by figures.sh, and used by stated.

Arguments: starts, seconds of idling, seconds to settle before, and for each host
`name:path:path of bare_process`.
"""

import glob
import os
import signal
import statistics
import sys
import tempfile
import time


def spawn(arguments, log):
    """Starts a program and waits for its READY. Returns its id and the milliseconds that took."""
    reader, writer = os.pipe()
    began = time.monotonic_ns()
    process = os.posix_spawn(
        arguments[0],
        arguments,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT, 0o600),
        ],
    )
    os.close(writer)
    line = os.read(reader, 4096)
    took = (time.monotonic_ns() - began) / 1e6
    os.close(reader)
    if not line.startswith(b"ready "):
        with open(log) as text:
            sys.exit(f"{arguments[0]} did not get ready:\n{text.read()}")
    return process, took


def start(hostd, state, slatefile="slatefile.json"):
    """Starts a host and waits for its READY. Returns its id and the milliseconds that took."""
    return spawn([hostd, "--slatefile", slatefile, "--state-dir", state], state + ".log")


def stop(process):
    """Ends a process by TERM. Returns the milliseconds that took."""
    began = time.monotonic_ns()
    os.kill(process, signal.SIGTERM)
    _, status = os.waitpid(process, 0)
    took = (time.monotonic_ns() - began) / 1e6
    if status != 0:
        sys.exit(f"the process ended with {os.waitstatus_to_exitcode(status)} instead of 0")
    return took


def field(path, name):
    with open(path) as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    sys.exit(f"no {name} in {path}")


def switches(process, kinds=("voluntary", "nonvoluntary")):
    """How often each thread of a process was put to sleep (voluntary) or made way for another."""
    return {
        path: sum(field(path, f"{kind}_ctxt_switches") for kind in kinds)
        for path in glob.glob(f"/proc/{process}/task/*/status")
    }


def wakeups_between(before, after):
    """A thread that came or went had to run for it."""
    ended = len(before.keys() - after.keys())
    return ended + sum(count - before.get(path, 0) for path, count in after.items())


def lives(hostd, bare, folder, count):
    """Starts and ends the host and the bare processes in turn. Returns the medians: to READY, to the end."""
    state = os.path.join(folder, "state")
    files = os.path.join(folder, "bare")
    os.makedirs(files)
    ways = {
        "host": [hostd, "--slatefile", "slatefile.json", "--state-dir", state],
        "bare": [bare],
        "files": [bare, files, "-"],
        "watches": [bare, files],
    }
    starts = {way: [] for way in ways}
    ends = {way: [] for way in ways}
    for number in range(count):
        # In the other order each second time.
        for way in list(ways)[:: 1 if number % 2 == 0 else -1]:
            process, took = spawn(ways[way], os.path.join(folder, way + ".log"))
            starts[way].append(took)
            # An idle host: its start-up tasks that can wait are done.
            time.sleep(0.2)
            ends[way].append(stop(process))
    return (
        {way: statistics.median(times) for way, times in starts.items()},
        {way: statistics.median(times) for way, times in ends.items()},
    )


def main():
    count, idle, settle = (int(word) for word in sys.argv[1:4])
    missed = False
    print(f"| medians of {count} | exec to READY, ms | bare C | ratio | TERM to exit, ms "
          f"| bare C: no files, files, and the same watches | ratio to the last two "
          f"| anonymous memory, MB | resident memory, MB | wake-ups in {idle} s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for host in sys.argv[4:]:
        name, hostd, bare = host.split(":", 2)
        with tempfile.TemporaryDirectory() as folder:
            to_ready, to_end = lives(hostd, bare, folder, count)
            process, _ = start(hostd, os.path.join(folder, "state"))
            # What a module still had to do after READY is done by then, and idle threads have ended.
            time.sleep(settle)
            memory, resident = (field(f"/proc/{process}/status", name) / 1024 for name in ("RssAnon", "VmRSS"))
            before = switches(process)
            time.sleep(idle)
            wakeups = wakeups_between(before, switches(process))
            stop(process)
        missed = missed or wakeups > 0
        print(
            f"| {name} | {to_ready['host']:.2f} | {to_ready['bare']:.2f} "
            f"| {to_ready['host'] / to_ready['bare']:.1f} "
            f"| {to_end['host']:.2f} | {to_end['bare']:.2f}, {to_end['files']:.2f}, {to_end['watches']:.2f} "
            f"| {to_end['host'] / to_end['files']:.1f}, {to_end['host'] / to_end['watches']:.1f} "
            f"| {memory:.2f} | {resident:.1f} | {wakeups} (none) |"
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
