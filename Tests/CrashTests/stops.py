"""Hosts that are stopped in order, hundreds of times, while events come and modules fail and return.

Each host is asked to stop with TERM at a moment of chance: before READY, while modules are made, restarted or
exchanged by a reload, or while one is slow. No host is killed, so nothing may be lost, out of order, or
received twice without a mark.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import tempfile
import threading
import time

from hosts import Failure, Host
from senders import HostClient, Ledger, PythonWriter, ScriptWriter, ShellWriter
from sites import Site
from witnesses import NAME, JournalFile, await_end, check

EAGER, SLOW, LAZY = "com.stop.eager", "com.stop.slow", "com.stop.lazy"
FRAGILE, NEEDING = "com.stop.fragile", "com.stop.needing"
FAILING, LAZY_FAILING = "com.stop.failing", "com.stop.lazy-failing"
ISOLATED, LAST = "com.stop.isolated", "com.stop.last"
#: They fail in `launch` while the folder of their journal is away.
BREAKABLE = [FRAGILE, FAILING, LAZY_FAILING]
WITNESSES = [EAGER, SLOW, LAZY, FRAGILE, NEEDING, FAILING, LAZY_FAILING, ISOLATED, LAST]
#: The senders pause while more bytes than this wait for a module.
BACKLOG = 400_000


class StopSite(Site):
    """A folder for each journal, so that it can be moved away, and a slatefile that changes."""

    slow = SLOW

    def __init__(self, folder):
        self.variant = {"lazy": True, "idle": "200ms", "isolated": True, "backlog": 1024}
        super().__init__(folder)

    def journal(self, module):
        if module == SLOW:
            return self.journals / f"{module}.ndjson"
        home = self.home(module)
        home.mkdir(parents=True, exist_ok=True)
        return home / "journal.ndjson"

    def home(self, module):
        """The folder of a journal, wherever it is now."""
        away = self.journals / f"{module}.away"
        return away if away.exists() else self.journals / module

    def toggle(self, module, is_there=None):
        """Moves the folder of a journal away, or back."""
        there, away = self.journals / module, self.journals / f"{module}.away"
        if is_there is None:
            is_there = away.exists()
        if is_there and away.exists():
            away.rename(there)
        elif not is_there and there.exists():
            there.rename(away)

    def write(self):
        """Writes the slatefile, at once."""
        new = self.slatefile.with_suffix(".new")
        new.write_text(json.dumps(self._slatefile(), indent=2))
        new.replace(self.slatefile)

    def _slatefile(self):
        def witness(module, **more):
            path = self.journals / module / "journal.ndjson"
            # With the disk in it, those that were away take their time to catch up.
            is_slow = module in [*BREAKABLE, NEEDING]
            config = {"file": str(self.journal(SLOW) if module == SLOW else path), "sync": is_slow}
            return {"id": module, "entry": "Modules.JournalModule", "config": config, **more}

        variant = self.variant
        lazy = {"launch": "lazy"} if variant["lazy"] else {}
        idle = {"idle": variant["idle"]} if variant["lazy"] and variant["idle"] else {}
        return {
            "slate": 1,
            "app": "stops",
            "schemes": ["stops"],
            "modules": [
                {"id": "com.stop.main", "entry": "Modules.MainModule", "main": True},
                witness(EAGER),
                witness(SLOW, backlog=variant["backlog"]),
                witness(LAZY, **lazy, **idle),
                witness(FRAGILE, retry=True),
                witness(NEEDING, needs=[FRAGILE]),
                witness(FAILING),
                witness(LAZY_FAILING, launch="lazy"),
                witness(ISOLATED, **({"isolation": "process"} if variant["isolated"] else {})),
                witness(LAST),
            ],
            # Only a stop is to end the wait for a slow one.
            "deadlines": {"event": "60s", "launch": "60s", "stop": "60s", "stopAll": "6s"},
        }


class StopWitness:
    """Judges the journal of one module over all lives of the host: each event once and in order, or marked."""

    def __init__(self, module, ledger):
        self.module, self.ledger = module, ledger
        self.received = {}  # name → (position, life)
        self.marked = 0
        self.errors = collections.Counter()
        self.findings = []
        self.life = 0
        self._highest = (0, 0)

    def take(self, line):
        """Takes a line of the journal."""
        try:
            entry = json.loads(line)
        except ValueError:
            return self._error("bad line", f"{line[:80]!r}")
        if "position" not in entry:
            return None
        name = NAME.search(line.decode()).group(1)
        position = tuple(int(part) for part in entry["position"].split(":"))
        if name not in self.ledger.sent:
            return self._error("invented", name)
        if name not in self.received:
            if position <= self._highest:
                self._error("out of order", f"{name} at {position} came after {self._highest}")
            self._highest = max(self._highest, position)
        elif entry.get("attempt", 1) > 1 or entry.get("repeated"):
            self.marked += 1
        else:
            former, life = self.received[name]
            self._error("repeated", f"{name} at {position} came from {former} in life {life}, and again unmarked")
        self.received[name] = (position, self.life)
        return None

    def _error(self, kind, what):
        self.errors[kind] += 1
        if self.errors[kind] <= 10:
            self.findings.append(f"{self.module}, life {self.life}: {kind}: {what}")

    def missing(self, names):
        """Which of these events it has not received."""
        return [name for name in names if name not in self.received]


class Journal(JournalFile):
    """A journal whose folder moves."""

    def __init__(self, site, witness):
        super().__init__(None, witness)
        self._site = site

    def read(self, is_live=False):
        self.path = self._site.journal(self.witness.module)
        super().read(is_live)


class Throttle:
    """The reader of the pipe of the slow witness: as slow as it is asked to be."""

    def __init__(self, path, witness):
        self.witness = witness
        self.pause = 0  # seconds for each 256 bytes
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._rest = b""
        self._is_ending = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._is_ending:
            if not self._read(256 if self.pause else 1 << 16):
                time.sleep(0.002)
            time.sleep(self.pause)

    def _read(self, size):
        with self._lock:
            try:
                data = os.read(self._pipe, size)
            except BlockingIOError:
                return False
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if line:
                    self.witness.take(line)
            return True

    def drain(self):
        """Takes what a host has left in the pipe."""
        self.pause = 0
        while self._read(1 << 16):
            pass

    def end(self):
        self._is_ending = True
        self._thread.join(10)
        self.drain()


class Asker:
    """Asks for things on the control socket, and does not wait for the answers."""

    def __init__(self, site):
        self._site = site
        self._lines = []

    def ask(self, method, **parameters):
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(str(self._site.socket))
            line.sendall(json.dumps(call).encode() + b"\n")
            self._lines.append(line)
        except OSError:
            line.close()  # no host, or not yet

    def close(self):
        for line in self._lines:
            line.close()
        self._lines = []


class StopDriver:
    """Lets host after host live on one site, and asks each to stop."""

    def __init__(self, folder, hostd, seed):
        self.folder, self.hostd = folder, hostd
        self.random = random.Random(seed)
        self.site = StopSite(folder)
        self.ledger = Ledger()
        self.witnesses = {module: StopWitness(module, self.ledger) for module in WITNESSES}
        self.slow = Throttle(self.site.journal(SLOW), self.witnesses[SLOW])
        self.journals = [Journal(self.site, w) for m, w in self.witnesses.items() if m != SLOW]
        sender = (self.site, self.ledger, seed)
        self.writer = PythonWriter(*sender, 0)
        self.senders = [
            HostClient(*sender, 1), HostClient(*sender, 2), PythonWriter(*sender, 1),
            PythonWriter(*sender, 2), ShellWriter(*sender, 1), ScriptWriter(*sender, 1),
        ]  # fmt: skip
        self.asker = Asker(self.site)
        self.stops = collections.Counter()  # by what was done before
        self.findings = []
        self.errors = collections.Counter()
        self.lives = 0

    # What happens while a host runs

    def act(self, host, acts):
        """Does something that modules come, go or fail by."""
        act = self.random.choice(
            [self.break_or_mend, self.reload, self.restart, self.unload, self.slow_down, self.quiet]
        )
        acts.append(act.__name__)
        act(host)
        time.sleep(self.random.choice([0, 0, 0.01, 0.05, 0.2]) * self.random.random() * 2)

    def break_or_mend(self, host):
        self.site.toggle(self.random.choice(BREAKABLE))

    def reload(self, host):
        variant, key = self.site.variant, self.random.choice(["lazy", "idle", "isolated", "backlog"])
        variant[key] = {
            "lazy": lambda: not variant["lazy"],
            "isolated": lambda: not variant["isolated"],
            "idle": lambda: self.random.choice([None, "50ms", "200ms"]),
            "backlog": lambda: self.random.randrange(1, 2000),
        }[key]()
        self.site.write()
        host.process.send_signal(signal.SIGHUP)

    def restart(self, host):
        self.asker.ask("restart", module=self.random.choice([*WITNESSES, FRAGILE, NEEDING, FAILING]))

    def unload(self, host):
        self.asker.ask("unload", module=self.random.choice([LAZY, LAZY_FAILING]))

    def slow_down(self, host):
        self.slow.pause = self.random.choice([0.001, 0.01, 0.03])

    def quiet(self, host):
        for sender in self.senders:
            sender.go_on(self.random.random() < 0.3)

    # Lives

    def live(self):
        """Lets a host live, and stops it."""
        self.lives += 1
        for witness in self.witnesses.values():
            witness.life = self.lives
        for module in BREAKABLE:
            self.site.toggle(module, self.random.random() < 0.6)
        acts = []
        host = Host(self.hostd, self.site)
        try:
            if self.random.random() < 0.2:
                acts.append("launch")
                time.sleep(self.random.random() * 0.3)
            elif not host.is_ready(120):
                raise Failure(f"it ended at its start:\n{host.text()}")
            elif self.random.random() < 0.7:
                for _ in range(self.random.randrange(1, 5)):
                    self.act(host, acts)
            else:
                acts.append("ready")
                time.sleep(self.random.choice([0, 0.1, 0.4]) * self.random.random())
            code = host.stop(120)
            # Before it has begun, a signal ends it as any program.
            if code != 0 and not (code == -signal.SIGTERM and not host.records):
                self.findings.append(f"life {self.lives} ({', '.join(acts)}) ended with {code}")
        finally:
            self._end(host)
        self.stops[acts[-1]] += 1
        return acts

    def _end(self, host):
        if host.wait(0.001) is None:
            host.kill()
        self.asker.close()
        self.slow.drain()
        for journal in self.journals:
            journal.read()
        with open(self.folder / "hosts.log", "a") as log:
            log.write(f"life {self.lives}, process {host.pid}, ended with {host.process.returncode}:\n{host.text()}\n")
        for sender in self.senders:
            if sender.error:
                raise Failure(f"{sender.name} has failed: {sender.error!r}")
        # No more than is delivered, in the long run.
        is_full = self.waiting() > BACKLOG
        for sender in self.senders:
            sender.go_on(not is_full)

    def waiting(self):
        """The bytes of the log that the last host has left."""
        cursor = json.loads((self.site.inbox / "cursor").read_text())
        segment, offset = (int(part) for part in cursor.get("next", "1:0").split(":"))
        sizes = {int(s.stem): s.stat().st_size for s in self.site.segments()}
        return sum(size for n, size in sizes.items() if n > segment) + sizes.get(segment, 0) - offset

    def run(self, stops):
        """Stops so many hosts."""
        host = Host(self.hostd, self.site)
        if not host.is_ready(120) or host.stop() != 0:
            raise Failure(f"the first host does not start, or not stop:\n{host.text()}")
        self._end(host)
        for sender in self.senders:
            sender.start()
        began = time.monotonic()
        for done in range(1, stops + 1):
            self.live()
            if done % 10 == 0:
                print(
                    f"{done} of {stops} stopped, {len(self.ledger.accepted)} events accepted, "
                    f"{self.count_errors()} errors, {time.monotonic() - began:.0f} s", flush=True)  # fmt: skip

    def count_errors(self):
        return len(self.findings) + sum(sum(w.errors.values()) for w in self.witnesses.values())

    def settle(self):
        """Lets one last host do all that is left, undisturbed; returns what is wrong."""
        for sender in self.senders:
            sender.end()
        for sender in self.senders:
            sender.join(60)
        for module in BREAKABLE:
            self.site.toggle(module, True)
        self.writer.write(["the-end"])
        self.lives += 1
        for witness in self.witnesses.values():
            witness.life = self.lives
        host = Host(self.hostd, self.site)
        try:
            if not host.is_ready(120):
                raise Failure(f"the last host does not start:\n{host.text()}")
            await_end(self.witnesses.values(), self.journals)
            if host.stop(120) != 0:
                self.findings.append(f"the last host does not end with 0:\n{host.text()}")
        finally:
            self._end(host)
            self.slow.end()
        for witness in self.witnesses.values():
            self.findings += witness.findings
            missing = witness.missing(self.ledger.accepted)
            witness.errors["lost"] = len(missing)
            for name in missing[:10]:
                place = self.ledger.accepted[name] or "a place not known"
                self.findings.append(f"{witness.module}: lost: {name}, accepted at {place}")
        letters = [e for e in self.site.rejected() if NAME.search(e.get("line", "")) and e.get("modules")]
        self.findings += [f"a dead letter: {e['position']}: {e['reason']}" for e in letters[:10]]


def run(hostd, stops, seed, folder):
    """Stops hosts, and prints what became of their events; returns the exit code."""
    print(f"{stops} stops, seed {seed}", flush=True)
    work = pathlib.Path(folder or tempfile.mkdtemp(prefix="stops-"))
    work.mkdir(parents=True, exist_ok=True)
    driver = StopDriver(work, hostd, seed)
    began = time.monotonic()
    driver.run(stops)
    driver.settle()
    print(f"\n{'stopped after':<18} {'times':>6}")
    for what, count in driver.stops.most_common():
        print(f"{what:<18} {count:>6}")
    kinds = ["lost", "out of order", "repeated", "invented", "bad line"]
    print(f"\n{'module':<24} {'received':>8} {'again, marked':>14}" + "".join(f"{k:>14}" for k in kinds))
    total = collections.Counter()
    for witness in driver.witnesses.values():
        total.update(witness.errors)
        counts = "".join(f"{witness.errors[kind]:>14}" for kind in kinds)
        print(f"{witness.module:<24} {len(witness.received):>8} {witness.marked:>14}{counts}")
    accepted = len(driver.ledger.accepted)
    print(f"\n{accepted} events accepted, {time.monotonic() - began:.0f} s")
    for finding in driver.findings[:60]:
        print(f"ERROR: {finding}")
    counts = f"{total['lost']} lost, {total['out of order']} out of order, {total['repeated']} repeated unmarked"
    if driver.findings:
        print(f"{counts}: {len(driver.findings)} errors in {stops} stops, seed {seed}; everything is in {work}")
        return 1
    print(f"{counts}: {stops} stops, seed {seed}")
    if not folder:
        shutil.rmtree(work)
    return 0
