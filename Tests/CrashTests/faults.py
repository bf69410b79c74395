"""What docs/reliability.md says of full disks, broken files and the like, tried with a real host."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import senders
from hosts import Failure, Host
from sites import SLOW, WITNESSES, Site
from witnesses import NAME, Valve

FIRST, LAST = WITNESSES[0], WITNESSES[-1]
INSIDE = "CRASH_TESTS_INSIDE"


class Skipped(Exception):
    """What a condition needs is not there."""


class Trial:
    """A site, and what its modules have received in it."""

    def __init__(self, hostd, folder, on=None):
        self.hostd = hostd
        self.folder = folder
        self.site = Site(on or folder, journals=folder / "journals")
        self.slow = []
        self.valve = Valve(self.site.journal(SLOW), self)
        self.random = random.Random(1)
        self.hosts = []

    def take(self, line):
        """What comes out of the pipe of the slow module."""
        self.slow.append(line)

    def start(self, environment=None):
        """Starts a host, and waits until it is ready."""
        host = self.begin(environment)
        expect(host.is_ready(60), f"the host does not start:\n{host.text()}")
        return host

    def begin(self, environment=None):
        host = Host(self.hostd, self.site, environment={**os.environ, **(environment or {})})
        self.hosts.append(host)
        return host

    def write(self, *names):
        """Writes events into the inbox, as another program does; returns where the first stands."""
        lines = "".join(senders.record(name, self.random) + "\n" for name in names)
        segment, offset = senders.append(self.site, f"\n{lines}".encode())
        return f"{segment}:{offset + 1}"

    def send(self, name, size=0, to=None):
        """Sends an event of this size, or a small one, on the control socket; the host's answer."""
        parameters = {"event": "push", "payload": {"n": name, "more": "." * size}, "id": name}
        call = {"jsonrpc": "2.0", "id": 1, "method": "send", "params": parameters}
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(30)
            line.connect(str(to or self.site.socket))
            line.sendall(json.dumps(call).encode() + b"\n")
            return json.loads(line.makefile("rb").readline())

    def received(self, module=LAST):
        """The names of the events that a module has received, in order."""
        if module == SLOW:
            lines = list(self.slow)
        else:
            lines = self.site.journal(module).read_bytes().split(b"\n")
        found = (NAME.search(line.decode()) for line in lines if b'"position"' in line)
        return [match.group(1) for match in found]

    def expect_received(self, *names, by=WITNESSES, again=False):
        """Waits until modules have received these events, and no others, in this order.

        With `again` each may have come more than once.
        """
        for module in by:
            deadline = time.monotonic() + 20
            while True:
                received = self.received(module)
                if again:
                    received = list(dict.fromkeys(received))
                if received == list(names) or time.monotonic() > deadline:
                    break
                time.sleep(0.01)
            expect(received == list(names), f"{module} received {received}, not {list(names)}")

    def reasons(self):
        return [entry["reason"] for entry in self.site.rejected()]

    def expect_rejected(self, *texts):
        deadline = time.monotonic() + 20
        while len(self.reasons()) < len(texts) and time.monotonic() < deadline:
            time.sleep(0.01)
        reasons = self.reasons()
        fits = len(reasons) == len(texts) and all(t in r for t, r in zip(texts, reasons))
        expect(fits, f"rejected: {reasons}, not {texts}")

    def end(self):
        for host in self.hosts:
            if host.wait(0.001) is None:
                host.kill()
        self.valve.end()


def expect(is_so, otherwise):
    if not is_so:
        raise Failure(otherwise)


def stop(host):
    expect(host.stop() == 0, f"it does not stop with 0:\n{host.text()}")


# Files that are cut, broken, or gone


def truncated_tail(trial):
    """A record that was cut off, not read yet: lost; when something follows it is rejected."""
    stop(trial.start())
    trial.write("a")
    trial.write("b")
    segment = trial.site.segments()[-1]
    os.truncate(segment, segment.stat().st_size - 9)
    trial.start()
    trial.expect_received("a")
    trial.write("c")
    trial.expect_received("a", "c")
    trial.expect_rejected("not valid JSON")


def truncated_below_cursor(trial):
    """A log that ends before what was done: a new segment, so that no position comes twice."""
    host = trial.start()
    trial.write("a", "b")
    trial.expect_received("a", "b")
    stop(host)
    os.truncate(trial.site.segments()[-1], 40)
    host = trial.start()
    expect(host.said("found the end at 1:40; segments were removed or cut"), host.text())
    expect(trial.write("c") == "2:1", "not in a new segment")
    trial.expect_received("a", "b", "c")


def garbage_tail(trial):
    """Bytes without an end: whatever follows is delivered, and they are rejected."""
    host = trial.start()
    trial.write("a")
    with open(trial.site.segments()[-1], "ab") as segment:
        segment.write(bytes(range(11, 256)) * 4)
    trial.write("b")
    trial.expect_received("a", "b")
    trial.expect_rejected("not valid JSON")
    expect(host.said("moved the event at 1:"), host.text())


def garbage_in_the_middle(trial):
    """Lines that are no records, and a line that is too long: rejected one by one, the rest is delivered."""
    stop(trial.start())
    trial.write("a")
    pusch = b'{"event":"pusch","payload":{}}'
    junk = [b'{"event":"push"', pusch, b"\xff\xfe\x00", b"x" * (3 << 20)]
    senders.append(trial.site, b"\n" + b"\n".join(junk) + b"\n")
    trial.write("b")
    host = trial.start()
    trial.expect_received("a", "b")
    no_event = "unknown event 'pusch'; did you mean 'push'?"
    trial.expect_rejected("not valid JSON", no_event, "not valid JSON", "3145728 bytes")
    expect(host.said("moved 1 more to the dead letters"), host.text())


def deleted_cursor(trial):
    """No cursor: the inbox is read from its start, in order, and what was done is delivered again."""
    host = trial.start()
    trial.write("a", "b")
    trial.expect_received("a", "b")
    stop(host)
    (trial.site.inbox / "cursor").unlink()
    host = trial.start()
    host.says_once("no cursor '")
    trial.expect_received("a", "b", "a", "b")


def broken_cursor(trial):
    """A cursor that is none: the same, and the log says what is wrong with it."""
    host = trial.start()
    trial.write("a", "b")
    trial.expect_received("a", "b")
    stop(host)
    (trial.site.inbox / "cursor").write_bytes(b'{"next":"1:')
    host = trial.start()
    host.says_once("is broken (")
    trial.expect_received("a", "b", "a", "b")


def cursor_past_the_end(trial):
    """A cursor past the end: a new segment behind it, and everything that comes is delivered."""
    host = trial.start()
    trial.write("a")
    trial.expect_received("a")
    stop(host)
    (trial.site.inbox / "cursor").write_text('{"next":"7:100","sequence":99}')
    host = trial.start()
    expect(host.said("inbox truncated: expected 7:100, found the end at 1:"), host.text())
    expect(trial.write("b") == "8:1", "not in a new segment")
    trial.expect_received("a", "b")


def deleted_segment(trial):
    """A segment that was not done is gone: the log says which, and the others are delivered."""
    stop(trial.start())
    trial.write("a")
    for number, name in [(2, "b"), (3, "c")]:
        trial.site.segment(number).touch(0o600)
        trial.write(name)
    stop_at = trial.site.inbox / "cursor"
    stop_at.write_text('{"next":"1:0","sequence":99}')
    trial.site.segment(2).unlink()
    host = trial.start()
    expect(host.says("segment 2 of the inbox is missing: "), host.text())
    trial.expect_received("a", "c")


def deleted_while_running(trial):
    """The newest segment is removed under a host: what comes later goes to one above it."""
    trial.start()
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    trial.site.segment(1).unlink()
    answer = trial.send("b")
    expect(answer.get("result", {}).get("position") == "2:1", f"answered: {answer}")
    trial.expect_received("a", "b")


def filled_by_others(trial):
    """A segment that only other programs write to: the host begins the next one when it is full."""
    trial.start()
    senders.append(trial.site, b"\n" * (8 << 20))
    position = trial.write("a")
    expect(position.startswith(("1:", "2:")), f"at {position}")
    trial.expect_received("a")
    deadline = time.monotonic() + 20
    while trial.site.newest_number() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    expect(trial.write("b").startswith("2:"), "not in a new segment")
    trial.expect_received("a", "b")


# Where the state is


def removed_pid_file(trial):
    """The pid file is removed under a running host: no second one starts (75), and nothing comes twice."""
    host = trial.start()
    (trial.site.state / "hostd.pid").unlink()
    other = trial.begin()
    expect(not other.is_ready(60), "a second host runs")
    expect(other.wait(10) == 75, f"it does not end with 75:\n{other.text()}")
    line = f"another host (process {host.pid}) runs on the state directory"
    expect(len(other.said(line)) == 1, other.text())
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    expect(host.status()["pid"] == host.pid, "another host answers")
    text = host.command_line("signals").stdout
    expect(f"as process {host.pid}." in text and f"kill -TERM {host.pid}" in text, text)
    done = host.command_line("stop")
    expect((done.returncode, done.stdout) == (0, "stopped\n"), f"{done}")
    expect(host.wait(10) == 0, host.text())


def refused(answer, text):
    """Whether an event was not accepted, for a reason with this text."""
    return "result" not in answer and text in json.dumps(answer.get("error"))


NOT_THE_FOLDER = "is not the folder that this host has opened"


def moved_state(trial):
    """The state directory is moved: another host may start in its place, and neither touches the other's."""
    state, away = trial.site.state, trial.site.folder / "away"
    host = trial.start()
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    state.rename(away)
    host.says("cannot use the inbox: ")
    other = trial.start()
    expect(refused(trial.send("lost", to=away / "control.sock"), NOT_THE_FOLDER), "not refused")
    expect("result" in trial.send("b"), "not accepted")
    trial.expect_received("a", "b")
    host.says_once("cannot use the inbox: ")
    expect("lost" not in trial.site.segment(1).read_text(), "it stands in the other's inbox")
    stop(host)
    expect(other.status()["pid"] == other.pid, "its socket is gone")
    stop(other)
    expect(other.said("the last host") == [], other.text())


def moved_inbox(trial):
    """The folder of the inbox is moved, and an empty one put there: nothing is accepted until it is back."""
    inbox, away = trial.site.inbox, trial.site.state / "away"
    host = trial.start()
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    inbox.rename(away)
    inbox.mkdir(0o700)
    for name in "lost1", "lost2":
        expect(refused(trial.send(name), NOT_THE_FOLDER), "not refused")
    host.status()
    host.says_once("cannot use the inbox: ")
    expect(list(inbox.iterdir()) == [], "something was put there")
    inbox.rmdir()
    away.rename(inbox)
    expect("result" in trial.send("b"), "not accepted")
    host.says("can use the inbox again")
    trial.expect_received("a", "b")


def removed_inbox(trial):
    """The folder of the inbox is removed: nothing is accepted until a host starts, which makes it."""
    host = trial.start()
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    shutil.rmtree(trial.site.inbox)
    for name in "lost1", "lost2":
        expect(refused(trial.send(name), NOT_THE_FOLDER), "not refused")
    host.says_once("cannot use the inbox: ")
    stop(host)
    trial.start()
    expect("result" in trial.send("b"), "not accepted")
    trial.expect_received("a", "b")


def skipped_segments(trial):
    """Another program begins segments with higher numbers: the host is there at once, and says it once."""
    host = trial.start()
    names = []
    for number in 3, 1000, 4294967295:
        trial.site.segment(number).touch(0o600)
        names += [f"foreign{number}", f"own{number}"]
        trial.write(names[-2])
        trial.expect_received(*names[:-1])
        answer = trial.send(names[-1])
        position = answer.get("result", {}).get("position", "")
        expect(position.startswith(f"{number}:"), f"answered: {answer}")
        trial.expect_received(*names)
    said = host.said(" of the inbox ")
    expect(len(said) == 3, host.text())
    for line, numbers in zip(said, ["segment 2", "segments 4 to 999", "segments 1001 to 4294967294"]):
        expect(line.startswith(f"{numbers} of the inbox "), line)


def beyond_four_gibibytes(trial):
    """A segment of more than 4 GiB: what begins beyond that becomes dead letters, and can be retried."""
    stop(trial.start())
    with open(trial.site.segment(1), "r+b") as segment:
        # A hole that takes no room: a line of zeros without end.
        segment.truncate((4 << 30) - 200)
    trial.write("a" * 180, "b", "c")
    host = trial.start()
    expect("result" in trial.send("d"), "not accepted")
    trial.expect_received("a" * 180, "d")
    behind = "beyond the first 4 GiB of its segment"
    trial.expect_rejected(f"{(4 << 30) - 200} bytes", behind, behind)
    trial.write("e")
    expect(trial.site.newest_number() == 2, "no new segment")
    trial.expect_received("a" * 180, "d", "e")
    done = host.command_line("inbox", "retry", "b", "c")
    expect(done.returncode == 0, f"{done}")
    trial.expect_received("a" * 180, "d", "e", "b", "c")
    # An event with an id waits for the scan of the hole, and may say so; the disk is not the cause.
    slow = [line for line in host.said("waiting") if "until the inbox is read for the ids" not in line]
    expect(slow == [], host.text())


# The black box


def killed(trial, *names):
    """A host that was killed after these events; the next one has to speak of it."""
    host = trial.start()
    trial.write(*names)
    trial.expect_received(*names)
    host.when_idle()
    host.kill()
    return host.pid


def killed_and_nothing_else(trial):
    """Killed when all was done: one line says so, and nothing is delivered again."""
    pid = killed(trial, "a", "b")
    host = trial.start()
    line = f"the last host (process {pid}) died while no module was running"
    expect(host.said("the last host") == [line], host.text())
    expect(host.status()["lastDeath"]["text"] == line, "the status says something else")
    trial.write("c")
    trial.expect_received("a", "b", "c")


def expect_only_cursor(trial):
    """From the cursor alone, which may be a second behind: nothing is lost, the order is kept, and repeats are marked."""
    trial.write("c")
    trial.expect_received("a", "b", "c", again=True)
    for module in (FIRST, LAST):
        received = set()
        for line in trial.site.journal(module).read_bytes().splitlines():
            if b'"position"' in line:
                entry, name = json.loads(line), NAME.search(line.decode()).group(1)
                marked = entry.get("repeated", False) or entry.get("attempt", 1) > 1
                expect(marked or name not in received, f"{module} received {name} again, unmarked")
                expect(not marked or name != "c", f"{module} received {name} marked as repeated")
                received.add(name)


def deleted_black_box(trial):
    """No black box: it is unknown what the last host was at, and the cursor alone counts."""
    killed(trial, "a", "b")
    (trial.site.state / "blackbox").unlink()
    host = trial.start()
    expect(not host.said("the last host"), host.text())
    expect_only_cursor(trial)


def broken_black_box(trial):
    """A file that is no black box: the same."""
    killed(trial, "a", "b")
    (trial.site.state / "blackbox").write_bytes(bytes(range(256)) * 1000)
    host = trial.start()
    expect(not host.said("the last host"), host.text())
    expect_only_cursor(trial)


def black_box_past_the_end(trial):
    """A black box that speaks of what the log does not have: not believed, and said."""
    killed(trial, "a", "b")
    _patch_box(trial, 36, (9 << 32).to_bytes(8, "little"))
    host = trial.start()
    expect(host.said("the black box has 9:0, but the inbox ends at 1:"), host.text())
    expect_only_cursor(trial)


def machine_went_down(trial):
    """The black box is from before the machine's last start: said, and the cursor alone counts."""
    pid = killed(trial, "a", "b")
    _patch_box(trial, 6, b"anything")
    host = trial.start()
    line = f"the machine went down while the last host (process {pid}) ran"
    expect(host.said("the last host") == [line], host.text())
    expect_only_cursor(trial)


def _patch_box(trial, word, data):
    with open(trial.site.state / "blackbox", "r+b") as box:
        box.seek(8 * word)
        box.write(data)


def three_deaths(trial):
    """An event that three hosts died in the delivery of is rejected for the module that was receiving it."""
    stop(trial.start())
    name = "a" * 180
    trial.write(name)
    trial.write("b")
    for _ in range(3):
        # Room for what the module notes of the launch, and not for the event.
        trial.valve.close_but(room=300)
        host = trial.start()
        host.says("unresponsive: delivery continues without it", within=30)
        # The others are done with it; only the last of all may come again to the module that was receiving it.
        trial.expect_received(name, "b", by=[FIRST, LAST], again=True)
        host.kill()
        trial.valve.open()
    trial.start()
    trial.expect_received("b", by=[SLOW])
    trial.expect_received(name, "b", by=[FIRST, LAST], again=True)
    expect(trial.received(FIRST).count(name) == trial.received(LAST).count(name) == 1, "it came again")
    trial.expect_rejected("the host died 3 times while this event was delivered")


# The disk


def full_disk(trial):
    """Nothing is accepted, the senders receive the reason, and the app runs on; with room, all goes on."""
    host = trial.start()
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    fill = trial.site.folder / "fill"
    _fill_up(fill)
    for name in "lost1", "lost2", "lost3":
        error = trial.send(name, size=10000).get("error", {})
        detail = json.dumps(error)
        expect("free space on this disk, then send again" in detail, f"answered: {detail}")
    host.says_once("cannot accept events: ")
    host.status()
    fill.unlink()
    expect("result" in trial.send("b"), "not accepted")
    host.says("can accept events again")
    trial.expect_received("a", "b")
    host.kill()
    _fill_up(fill)
    host = trial.begin()
    is_ready = host.is_ready(60)
    code = host.wait(0.001)
    expect(is_ready, f"on a full disk it ends with {code}:\n{host.text()}")
    expect(host.said("no black box: "), host.text())
    host.kill()
    fill.unlink()
    host = trial.start()
    trial.write("c")
    # The host before could keep neither a cursor nor a black box.
    trial.expect_received("a", "b", "c", again=True)
    stop(host)


def _fill_up(path):
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in 1 << 16, 1:
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)


def read_only_folder(trial):
    """A state directory that cannot be written: the host does not start, and says which (73)."""
    stop(trial.start())
    for path in trial.site.inbox, trial.site.state:
        _mount("--bind", str(path), str(path))
        _mount("-o", "remount,ro,bind", str(path))
        host = trial.begin()
        expect(not host.is_ready(60), "it starts")
        expect(host.wait(10) == 73, f"it does not end with 73:\n{host.text()}")
        expect(len(host.records) == 1 and str(path) in host.records[0]["message"], host.text())
        subprocess.run(["umount", str(path)], check=True)
    trial.write("a")
    trial.start()
    trial.expect_received("a")


def unwritable_rejected(trial):
    """What is to be rejected cannot be noted: nothing goes past it until it can."""
    host = trial.start()
    (trial.site.inbox / "dead-letters.ndjson").mkdir()
    senders.append(trial.site, b"\nno record\n")
    trial.write("a")
    host.says(f"cannot read the inbox: {trial.site.inbox}/dead-letters.ndjson: is not a regular file")
    host.status()
    expect(trial.received() == [], f"received: {trial.received()}")
    (trial.site.inbox / "dead-letters.ndjson").rmdir()
    trial.expect_received("a")
    trial.expect_rejected("not valid JSON")
    host.says_once("cannot read the inbox: ")
    host.says("can read the inbox again")


def _mount(*options):
    if not os.environ.get(INSIDE):
        raise Skipped("no user namespaces here")
    if subprocess.run(["mount", *options], stderr=subprocess.DEVNULL).returncode != 0:
        raise Skipped("cannot mount here")


# Others


HOLDER = """
import fcntl, sys, time
lock = open(sys.argv[1], "ab")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def _stopped_holder(trial):
    """A program that was stopped while it held the lock."""
    path = str(trial.site.inbox / "inbox.lock")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE)
    try:
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        yield holder
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def lock_held(trial):
    """A stopped program holds the lock: the log names it, the app runs on, and nothing is lost."""
    host = trial.start()
    with _stopped_holder(trial) as holder:
        # A client that waits is answered when the lock is free.
        client = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1])\n"
             "import socket, json; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[2])\n"
             "s.sendall(sys.argv[3].encode() + b'\\n'); print(s.makefile().readline())",
             str(pathlib.Path(__file__).parent), str(trial.site.socket),
             json.dumps({"jsonrpc": "2.0", "id": 1, "method": "send", "params":
                         {"event": "push", "payload": {"n": "a"}}})],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        host.says(f"the inbox has been waiting for process {holder.pid} for ", within=30)
        expect(host.status()["state"] == "active", "not active")
    expect('"position"' in client.communicate(timeout=30)[0], "not accepted in the end")
    host.says("the inbox continues: its lock is free again")
    trial.expect_received("a")


def lock_held_at_the_start(trial):
    """The same before the app launches: the log names who is in the way."""
    stop(trial.start())
    with _stopped_holder(trial) as holder:
        host = trial.begin()
        host.says(f"the inbox has been waiting for process {holder.pid} for ", within=30)
    expect(host.is_ready(60), host.text())
    trial.write("a")
    trial.expect_received("a")


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec -= atol(getenv("SECONDS_BACK"));
    return result;
}
"""


def clock_set_back(trial):
    """A clock that was set back by ten years: it decides nothing, and the order is that of the log."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        raise Skipped("no C compiler for another clock")
    source, library = trial.folder / "clock.c", trial.folder / "clock.so"
    source.write_text(CLOCK)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    host = trial.start()
    expect("result" in trial.send("a"), "not accepted")
    trial.expect_received("a")
    host.when_idle()
    host.kill()
    host = trial.start({"LD_PRELOAD": str(library), "SECONDS_BACK": str(10 * 365 * 86400)})
    expect("result" in trial.send("b"), "not accepted")
    trial.expect_received("a", "b")
    lines = [json.loads(line) for line in trial.site.journal(LAST).read_bytes().splitlines()]
    times = [line["time"] for line in lines if "position" in line]
    if times[0] <= times[1]:
        raise Skipped("this hostd does not take another clock: linked statically?")
    stop(host)


CONDITIONS = {
    "truncated tail": truncated_tail,
    "truncated below the cursor": truncated_below_cursor,
    "garbage at the tail": garbage_tail,
    "garbage in the middle": garbage_in_the_middle,
    "deleted cursor": deleted_cursor,
    "broken cursor": broken_cursor,
    "cursor past the end": cursor_past_the_end,
    "deleted segment": deleted_segment,
    "segment filled by other programs": filled_by_others,
    "segment deleted while running": deleted_while_running,
    "pid file removed while running": removed_pid_file,
    "state directory moved": moved_state,
    "inbox moved": moved_inbox,
    "inbox removed while running": removed_inbox,
    "segments with skipped numbers": skipped_segments,
    "segment of more than 4 GiB": beyond_four_gibibytes,
    "killed when all was done": killed_and_nothing_else,
    "deleted black box": deleted_black_box,
    "broken black box": broken_black_box,
    "black box past the end": black_box_past_the_end,
    "machine went down": machine_went_down,
    "three deaths in one event": three_deaths,
    "full disk": full_disk,
    "read-only folder": read_only_folder,
    "rejected events cannot be noted": unwritable_rejected,
    "lock held by a stopped program": lock_held,
    "lock held at the start": lock_held_at_the_start,
    "clock set back": clock_set_back,
}


def _can_unshare():
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL).returncode == 0


def run(hostd, only):
    """Tries all conditions; returns the exit code."""
    if not os.environ.get(INSIDE) and _can_unshare():
        # In a namespace of its own any user may mount.
        command = ["unshare", "-rm", sys.executable, "-B", *sys.argv]
        os.execvpe(command[0], command, {**os.environ, INSIDE: "1"})
    failed = skipped = 0
    for name, condition in CONDITIONS.items():
        if only not in name:
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="crash-"))
        trial = None
        began = time.monotonic()
        try:
            disk = None
            if condition is full_disk:
                disk = folder / "disk"
                disk.mkdir()
                _mount("-t", "tmpfs", "-o", "size=2m", "none", str(disk))
            trial = Trial(hostd, folder, on=disk)
            condition(trial)
            result = "ok"
        except Skipped as why:
            result = f"skipped: {why}"
            skipped += 1
        except Failure as failure:
            result = f"ERROR: {failure}"
            failed += 1
        finally:
            if trial:
                trial.end()
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{name:<34} {time.monotonic() - began:>5.1f} s  {result}", flush=True)
    print(f"{failed} conditions without their stated outcome, {skipped} skipped")
    return 1 if failed else 0
