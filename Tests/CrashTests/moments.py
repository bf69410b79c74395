"""The moments at which a host is killed."""

import dataclasses
import time
import typing

from hosts import Trap
from senders import append
from sites import SLOW, WITNESSES

FIRST, LAST = WITNESSES[0], WITNESSES[-1]
SEGMENT_LIMIT = 8 << 20
#: What a host calls that leaves something behind.
LASTING = "openat,write,fdatasync,fsync,rename,unlink,fchmod,ftruncate,flock,mkdir"


@dataclasses.dataclass
class Moment:
    """A kind of moment: what has to be so, and then the system call at whose entry the host dies.

    Where there is no strace the host dies some time later, as `clock` says.
    """

    name: str
    #: The system calls, which of them, and with which file; None for one that only the clock can meet.
    calls: typing.Optional[str] = None
    counts: range = range(1, 2)
    path: typing.Callable = lambda driver: None
    #: What to do before the host starts, or while it runs and before the trap is set.
    before: typing.Callable = lambda driver: None
    during: typing.Callable = lambda driver, host: None
    #: Whether the trap is set before the host starts, or the host is asked to stop when it is set.
    is_at_start: bool = False
    is_at_stop: bool = False
    #: Without strace: after how many seconds at most.
    clock: float = 0.1
    #: With it: how long to wait for the call.
    patience: float = 10

    def trap(self, driver):
        if self.calls is None or not driver.can_trap:
            return None
        return Trap(self.calls, driver.random.choice(self.counts))


def newest(driver):
    return driver.site.segments()[-1]


def fill(driver, host=None):
    """Fills the newest segment, so that the next one that appends begins another: empty lines are nothing."""
    driver.pause(True)
    size = newest(driver).stat().st_size
    append(driver.site, b"\n" * (SEGMENT_LIMIT - size - 1))
    driver.filled = driver.site.newest_number()


def following(driver):
    return driver.site.segment(driver.filled + 1)


def backlog(driver):
    """Has a program write hundreds of events while no host runs."""
    if not driver.site.inbox.is_dir():
        return
    for _ in range(driver.random.randrange(2, 12)):
        driver.writer.write(driver.writer.names(100))


def stall(driver, host):
    """Lets the module in the middle get stuck, until the host has given it up."""
    driver.valve.close()
    host.says("unresponsive", within=20)


def recover(driver, host):
    """… and then lets it go on."""
    stall(driver, host)
    time.sleep(driver.random.random() * 0.1)
    driver.valve.open()


MOMENTS = [
    Moment("accepting: before the write", "write", range(1, 9), newest),
    Moment("accepting: written, not synced", "fdatasync", range(1, 9), newest),
    Moment("accepting: synced, not answered", "flock", range(1, 30), lambda d: d.site.inbox / "inbox.lock"),
    Moment("delivering: in the first module", "write,fdatasync", range(1, 40), lambda d: d.site.journal(FIRST)),
    Moment("delivering: in the last module", "write,fdatasync", range(1, 40), lambda d: d.site.journal(LAST)),
    Moment("cursor: before the new one is written", "fchmod", range(1, 2)),
    Moment("cursor: before it takes its place", "rename", range(1, 2)),
    Moment("rolling: before the segment is there", "openat", range(1, 2), following, during=fill),
    Moment("rolling: before its name is safe", "fsync", range(1, 2), lambda d: d.site.inbox, during=fill),
    Moment("rolling: before its first event", "write", range(1, 2), following, during=fill),
    Moment("removing a segment that is done", "unlink", range(1, 2), newest, during=fill),
    Moment("starting", LASTING, range(1, 40), is_at_start=True, clock=0.03),
    Moment("starting: cursor and black box", "rename", range(1, 3), is_at_start=True, clock=0.03),
    Moment("stopping", LASTING, range(1, 12), is_at_stop=True, clock=0.01),
    Moment("reading a backlog: in a module", "write", range(1, 300), lambda d: d.site.journal(FIRST),
           before=backlog, is_at_start=True),
    Moment("reading a backlog: in the inbox", "pread64", range(1, 6), newest, before=backlog, is_at_start=True),
    Moment("a module is unresponsive", during=stall, clock=0.3),
    Moment("a module catches up", during=recover, clock=0.03),
    Moment("whenever", clock=0.4),
]  # fmt: skip
