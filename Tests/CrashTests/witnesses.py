"""What the modules of a site received, and whether that is what they had to receive."""

import fcntl
import json
import os
import re
import select
import threading
import time


#: Why an event may be rejected that was accepted, since all of them are records as they should be.
GIVEN_UP = re.compile(r"^the host died 3 times while|is unresponsive and more than")
NAME = re.compile(r'"n": ?"([^"]*)"')
#: How many segments that are done the log keeps, and with them their ids (docs/inbox.md).
RETAINED = 2


class Witness:
    """Judges the journal of one module, line by line, over all lives of the host.

    - Nothing is in it that was never sent.
    - The events that it received for the first time are in the order of the inbox.
    - It receives again only the event that was current when the host died: the last event of a life once
      more, as the next attempt.
    """

    def __init__(self, module, ledger):
        self.module, self.ledger = module, ledger
        self.received = {}  # name → (position, attempt, life)
        self.repeated = 0
        self.errors = []
        self.highest = (0, 0)
        self.attempts = 1  # the highest
        self._life = 0
        self._last = None  # the name of the last event
        self._in_hand = None  # of the life before

    def take(self, line):
        """Takes a line of the journal."""
        try:
            entry = json.loads(line)
        except ValueError:
            return self._error(f"a line that is not JSON: {line[:80]!r}")
        if entry["event"] == "launch":
            self._life += 1
            if self._last is not None:
                self._in_hand = self._last
            return None
        if "position" not in entry:
            return None
        name = NAME.search(line.decode()).group(1)
        position = tuple(int(part) for part in entry["position"].split(":"))
        attempt = entry.get("attempt", 1)
        self._judge(name, position, attempt)
        self.attempts = max(self.attempts, attempt)
        self._last = name
        return None

    def _judge(self, name, position, attempt):
        if name not in self.ledger.sent:
            return self._error(f"{name} was invented")
        if name not in self.received:
            if position <= self.highest:
                self._error(f"{name} at {position} came after {self.highest}")
            self.highest = max(self.highest, position)
        else:
            former, attempts, life = self.received[name]
            self.repeated += 1
            if position[0] - former[0] > RETAINED:
                # Sent again when the log had its id no more.
                self.highest = max(self.highest, position)
            elif position != former:
                self._error(f"{name} came from {former} and from {position}")
            elif life == self._life:
                self._error(f"{name} at {position} came twice to one host")
            elif name != self._in_hand:
                self._error(
                    f"{name} at {position} came again, but {self._in_hand} was the last one before")
            elif attempt <= attempts:
                self._error(f"{name} at {position} came again as attempt {attempt}, after {attempts}")
        self.received[name] = (position, attempt, self._life)
        return None

    def _error(self, what):
        self.errors.append(f"{self.module}, life {self._life}: {what}")

    def missing(self, names):
        """Which of these events it has not received."""
        return [name for name in names if name not in self.received]


class JournalFile:
    """The journal of a witness in a file."""

    def __init__(self, path, witness):
        self.path, self.witness = path, witness
        self._offset = 0

    def read(self, is_live=False):
        """Takes what is new. Unless a host runs it is let go of then, so that no file grows for ever."""
        if not self.path.exists():
            return
        data = self.path.read_bytes()[self._offset :]
        end = data.rfind(b"\n") + 1
        for line in data[:end].split(b"\n"):
            if line:
                self.witness.take(line)
        self._offset += end
        if end == len(data) and not is_live:
            os.truncate(self.path, 0)
            self._offset = 0


def await_end(witnesses, journals):
    """Reads the journals until each witness has the last event, or none has received any for two minutes."""
    received, deadline = 0, time.monotonic() + 120
    while not all("the-end" in witness.received for witness in witnesses):
        count = sum(len(witness.received) for witness in witnesses)
        if count > received:
            received, deadline = count, time.monotonic() + 120
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
        for journal in journals:
            journal.read(is_live=True)


class Valve:
    """The reader of the pipe that the slow witness writes to: while it is closed, that is stuck.

    What a host wrote outlives it here, as it would in a file.
    """

    def __init__(self, path, witness):
        self.witness = witness
        self.pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(self.pipe, fcntl.F_SETPIPE_SZ, 4096)
        self._rest = b""
        self._is_open = threading.Event()
        self._is_open.set()
        self._lock = threading.Lock()
        self._is_ending = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def open(self):
        self._is_open.set()

    def close(self):
        self._is_open.clear()
        with self._lock:
            pass  # The reader has stopped.

    def close_but(self, room):
        """Closes it when the pipe is empty, and then leaves only so many bytes in it."""
        while select.select([self.pipe], [], [], 0)[0]:
            time.sleep(0.001)
        self.close()
        os.write(self.pipe, b"\n" * (4096 - room))

    def _run(self):
        poll = select.poll()
        poll.register(self.pipe, select.POLLIN)
        while not self._is_ending:
            self._is_open.wait()
            if poll.poll(50):
                self._read()

    def _read(self):
        with self._lock:
            while self._is_open.is_set():
                try:
                    data = os.read(self.pipe, 1 << 16)
                except BlockingIOError:
                    return
                *lines, self._rest = (self._rest + data).split(b"\n")
                for line in lines:
                    if line:
                        self.witness.take(line)

    def end(self):
        self._is_ending = True
        self.open()
        self._thread.join(10)
        os.close(self.pipe)


def check(ledger, witnesses, rejected):
    """Whether every accepted event was received by every witness, or was rejected for a reason.

    Returns how many were rejected, and what is wrong.
    """
    errors = [error for witness in witnesses for error in witness.errors]
    given_up = set()
    for entry in rejected:
        found = NAME.search(entry.get("line", ""))
        name = found and found.group(1)
        if not entry["reason"]:
            errors.append(f"{entry['position']} was rejected without a reason")
        if name in ledger.sent and GIVEN_UP.search(entry["reason"]):
            given_up.add(name)
        elif name and name not in ledger.sent and entry["reason"].startswith("the host died"):
            errors.append(f"{name} is among the rejected, and was never sent")
    for witness in witnesses:
        missing = [name for name in witness.missing(ledger.accepted) if name not in given_up]
        for name in missing[:10]:
            place = ledger.accepted[name] or "a place not known"
            errors.append(f"{witness.module} never received {name}, accepted at {place}")
        if len(missing) > 10:
            errors.append(f"{witness.module} never received {len(missing) - 10} more")
    return len(given_up), errors
