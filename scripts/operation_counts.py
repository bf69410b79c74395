"""Counts what an operation of an idle host takes: system calls, and how often a thread is woken; used by stated.

One operation after the other, each alone: the next begins when the last is done. Counts do not depend on what else the
machine does, as times do: a needless hop, a second write or a wait for the disk shows.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from whole_process import start, stop, switches

# Enough that what begins and ends a count, and the alarm of a deadline now and then, do not show.
OPERATIONS = 500


class Client:
    def __init__(self, state):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(state, "control.sock"))
        self.lines = self.socket.makefile("rb")

    def __call__(self, method, **parameters):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])


class Signals:
    """Sends signals, each after the last one's event was delivered: the journal has a line of it then."""

    def __init__(self, process, state):
        self.process = process
        self.journal = os.path.join(state, "journal.ndjson")

    def __call__(self):
        before = os.path.getsize(self.journal)
        os.kill(self.process, signal.SIGRTMIN + 4)
        deadline = time.monotonic() + 10
        while os.path.getsize(self.journal) == before:
            if time.monotonic() > deadline:
                raise RuntimeError("an event that came as a signal is not in the journal")
            time.sleep(0.0005)
        # The host is idle again: the journal is not the last module.
        time.sleep(0.002)


def operations(process, state):
    """What is counted, by its column in the table."""
    client, signals = Client(state), Signals(process, state)
    return {
        "`ping`": lambda: client("ping"),
        "`call`": lambda: client("call", module="com.mm.community", action="userInfo", parameters={"style": 1}),
        "event by signal": signals,
        "durable event": lambda: client("send", event="push", payload={"aps": {"badge": 1}}, wait=True),
    }


def woken(process):
    """How often the threads of a process have gone to sleep, which is as often as they were woken."""
    return sum(switches(process, ["voluntary"]).values())


def system_calls(process, output, work):
    """Counts the system calls of a process while `work` runs; None where no process may be traced."""
    if not shutil.which("strace"):
        return None
    strace = subprocess.Popen(["strace", "-f", "-c", "-o", output, "-p", str(process)], stderr=subprocess.PIPE)
    # Said when all threads are traced.
    is_traced = b"attached" in strace.stderr.readline()
    if is_traced:
        work()
        strace.send_signal(signal.SIGINT)
    strace.communicate()
    if not is_traced:
        return None
    with open(output) as table:
        return int(re.search(r"^100\.00 +\S+ +\S+ +(\d+) .*total$", table.read(), re.MULTILINE)[1])


def counted(hostd, folder):
    """The counts of each operation, by its column and row."""
    state = os.path.join(folder, "counted")
    process, _ = start(hostd, state)
    found = {}
    try:
        time.sleep(1)
        for column, operation in operations(process, state).items():

            def work(operation=operation):
                for _ in range(OPERATIONS):
                    operation()

            operation()
            before = woken(process)
            work()
            found[column, "times a thread is woken"] = (woken(process) - before) / OPERATIONS
            calls = system_calls(process, os.path.join(folder, "calls"), work)
            if calls is not None:
                found[column, "system calls"] = calls / OPERATIONS
    finally:
        stop(process)
    if not any(what == "system calls" for _, what in found):
        print("no strace that may trace: system calls are not counted")
    return found


if __name__ == "__main__":
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        for (column, what), count in counted(os.path.abspath(sys.argv[1]), name).items():
            print(f"{column:<22} {what:<25} {count:7.2f}")
