"""Who sends events: clients of the control socket, and programs that write into the inbox themselves.

All of them go on whatever becomes of the host, and note in a `Ledger` what they sent, and what of it was
accepted: answered by the host, or, where they write themselves, on the disk.
"""

import fcntl
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import threading
import time


class Ledger:
    """What was sent, and what of it was accepted. Each event has a name of its own in its payload."""

    def __init__(self):
        self._lock = threading.Lock()
        self.sent = {}  # name → who sent it
        self.accepted = {}  # name → where it stands, where that is known
        self.again = set()  # what was sent more than once, with the same id
        self.duplicates = 0

    def send(self, names, who):
        with self._lock:
            for name in names:
                if name in self.sent:
                    self.again.add(name)
                self.sent[name] = who

    def accept(self, name, position=None):
        with self._lock:
            if position is None:
                self.duplicates += 1
            self.accepted.setdefault(name, position)

    def counts(self):
        """How many were sent and accepted, by sender."""
        with self._lock:
            count = {}
            for name, who in self.sent.items():
                sent, accepted = count.get(who, (0, 0))
                count[who] = (sent + 1, accepted + (name in self.accepted))
            return count


def event(name):
    """Some event that carries the name in its payload; for one name always the same, as it is sent again with its id."""
    chance = random.Random(name)
    kind = chance.randrange(4)
    if kind == 0:
        return "message", {"topic": "crash.test", "payload": {"n": name}}
    if kind == 1:
        return "local-notification", {"id": "crash", "userInfo": {"n": name}}
    return "push", {"aps": {"badge": chance.randrange(100)}, "n": name}


def traceparent(random):
    """A trace, of which an event is a part and no other part."""
    return f"00-{random.randrange(1, 1 << 128):032x}-{random.randrange(1, 1 << 64):016x}-01"


def record(name, random, with_id=True):
    """The line of such an event, as it stands in the inbox."""
    kind, payload = event(name)
    members = {"event": kind, "payload": payload}
    if with_id:
        members["id"] = name
    # The host does not go by it, and so it may say anything.
    members["time"] = f"{random.randrange(1990, 2090)}-03-01T09:41:00Z"
    if random.random() < 0.5:
        members["source"] = f"sender {random.randrange(10)}"
    if random.random() < 0.5:
        members["traceparent"] = traceparent(random)
    return json.dumps(members, separators=(",", ":"))


class Sender(threading.Thread):
    """Sends until it is asked to stop."""

    kind = "?"

    def __init__(self, site, ledger, seed, number):
        super().__init__(daemon=True, name=f"{self.kind}-{number}")
        self.site, self.ledger = site, ledger
        self.random = random.Random(f"{seed} {self.name}")
        self.count = 0
        self.error = None
        self._is_ending = threading.Event()
        self._pause = threading.Event()
        self._pause.set()

    def names(self, count):
        """New names for events."""
        self.count += count
        return [f"{self.name}-{number}" for number in range(self.count - count, self.count)]

    def end(self):
        self._is_ending.set()
        self._pause.set()

    def go_on(self, yes):
        """Pauses after what is in hand, or goes on."""
        self._pause.set() if yes else self._pause.clear()

    def run(self):
        try:
            while not self._is_ending.is_set():
                self._pause.wait()
                self.turn()
                time.sleep(self.random.random() * 0.01)
        except Exception as error:  # shown by the driver, which counts on all of them
            self.error = error
            raise

    def turn(self):
        raise NotImplementedError


class HostClient(Sender):
    """Sends on the control socket, many events before it reads an answer, some with an id.

    What it got no answer for it sends again, if it has an id.
    """

    kind = "control"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._unanswered = []

    def turn(self):
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(20)
                line.connect(str(self.site.socket))
                while not self._is_ending.is_set() and self._pause.is_set():
                    if not self._exchange(line):
                        return
        except OSError:
            time.sleep(0.005)  # no host, or not yet

    def _exchange(self, line):
        again, self._unanswered = self._unanswered[:16], self._unanswered[16:]
        new = self.names(self.random.randrange(1, 24))
        waiting = {}  # number of the call → name, and whether it has an id
        calls = []
        for name in again + new:
            kind, payload = event(name)
            has_id = name in again or self.random.random() < 0.5
            parameters = {"event": kind, "payload": payload}
            if has_id:
                parameters["id"] = name
            if self.random.random() < 0.5:
                # Another one each time: it is no part of the event.
                parameters["source"] = f"sender {self.random.randrange(10)}"
            if self.random.random() < 0.5:
                parameters["traceparent"] = traceparent(self.random)
            if self.random.random() < 0.2:
                parameters["wait"] = True
            waiting[len(calls)] = (name, has_id)
            calls.append({"jsonrpc": "2.0", "id": len(calls), "method": "send", "params": parameters})
        self.ledger.send(again + new, self.kind)
        try:
            line.sendall(b"".join(json.dumps(call).encode() + b"\n" for call in calls))
            for answer in line.makefile("rb"):
                if not answer.endswith(b"\n"):
                    break
                self._take(json.loads(answer), waiting)
                if not waiting:
                    return True
        finally:
            self._unanswered += [name for name, has_id in waiting.values() if has_id]
        return False

    def _take(self, answer, waiting):
        name, has_id = waiting.pop(answer["id"])
        result = answer.get("result")
        if result is None:
            # Stopping, most of the time: not accepted.
            if has_id:
                self._unanswered.append(name)
        elif result.get("duplicate"):
            self.ledger.accept(name)
        else:
            self.ledger.accept(name, result["position"])


class PythonWriter(Sender):
    """Writes into the inbox by the rules of docs/inbox.md; now and then dies in the middle of it."""

    kind = "python"

    def turn(self):
        if not self.site.inbox.is_dir():
            return time.sleep(0.02)
        if self.random.random() < 0.03:
            name = self.names(1)
            self.ledger.send(name, self.kind)
            line = "\n" + record(name[0], self.random)
            return append(self.site, line[: self.random.randrange(2, len(line))].encode())
        names = self.names(self.random.randrange(1, 12))
        self.write(names)
        return None

    def write(self, names):
        """Appends events, in one write; what is on the disk is accepted."""
        lines = [record(name, self.random, self.random.random() < 0.5) for name in names]
        self.ledger.send(names, self.kind)
        segment, offset = append(self.site, ("\n" + "".join(x + "\n" for x in lines)).encode())
        offset += 1
        for name, line in zip(names, lines):
            self.ledger.accept(name, f"{segment}:{offset}")
            offset += len(line.encode()) + 1


def append(site, data):
    """Appends bytes to the newest segment, safe on the disk, and says where they stand."""
    with open(site.inbox / "inbox.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = site.segments()[-1]
        file = os.open(newest, os.O_WRONLY | os.O_APPEND)
        try:
            start = os.fstat(file).st_size
            if os.write(file, data) != len(data):
                os.ftruncate(file, start)
                raise OSError("short write")
            os.fdatasync(file)
        finally:
            os.close(file)
        return int(newest.stem), start


class DocumentedWriter(Sender):
    """Writes with the program that docs/inbox.md shows, one process an event."""

    DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "inbox.md"
    language = "?"
    interpreter = "?"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        blocks = re.findall(rf"^```{self.language}\n(.*?)^```$", self.DOCUMENT.read_text(), re.M | re.S)
        self._program = self.site.folder / f"inbox-send.{self.language}"
        self._program.write_text(blocks[0])

    def turn(self):
        if not self.site.inbox.is_dir():
            return time.sleep(0.02)
        name = self.names(1)[0]
        self.ledger.send([name], self.kind)
        done = subprocess.run(
            [self.interpreter, str(self._program), str(self.site.state), record(name, self.random)],
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            self.ledger.accept(name, "")
        return None


class ShellWriter(DocumentedWriter):
    """The shell's."""

    kind, language, interpreter = "docs-shell", "sh", "sh"


class ScriptWriter(DocumentedWriter):
    """Python's."""

    kind, language, interpreter = "docs-python", "python", sys.executable
