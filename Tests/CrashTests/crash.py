#!/usr/bin/env python3
"""Kills a host hundreds of times, at moments of named kinds, and counts what became of its events.

usage: scripts/crash [--kills N] [--seed N] [--hostd FILE] [--folder DIR] [--only TEXT] [--no-strace]
       scripts/crash --stops N [--seed N] [--hostd FILE] [--folder DIR]
       scripts/crash --faults [--hostd FILE] [--only TEXT]

A real hostd runs over and over on one state directory, with modules that write down what they receive, while
clients of its control socket and other programs send events. It is killed with SIGKILL: where strace can
be used, at the entry of chosen system calls, else after times of chance. At the end every event that was
accepted must have been received by every module, or be among the rejected ones; in order; once, but for
what was current in a module when the host died; and nothing that was never sent.

With --stops, hosts are stopped in order, at moments of chance, while modules fail, return, and are made,
exchanged and unloaded: no event may be lost, out of order, or received again without a mark.

With --faults, what docs/reliability.md says of full disks, broken files and the like is tried instead.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import time

import faults
import stops
from hosts import Failure, Host, can_trap
from moments import MOMENTS
from senders import HostClient, Ledger, PythonWriter, ScriptWriter, ShellWriter
from sites import SLOW, WITNESSES, Site
from witnesses import JournalFile, Valve, Witness, await_end, check


class Driver:
    """Lets host after host live on one site, and die."""

    def __init__(self, folder, hostd, seed, use_strace):
        self.hostd = hostd
        self.random = random.Random(seed)
        self.can_trap = use_strace and can_trap()
        self.site = Site(folder)
        self.ledger = Ledger()
        self.witnesses = {module: Witness(module, self.ledger) for module in WITNESSES}
        self.valve = Valve(self.site.journal(SLOW), self.witnesses[SLOW])
        self.journals = [
            JournalFile(self.site.journal(m), w) for m, w in self.witnesses.items() if m != SLOW
        ]
        sender = (self.site, self.ledger, seed)
        self.writer = PythonWriter(*sender, 0)
        self.senders = [
            HostClient(*sender, 1), HostClient(*sender, 2), HostClient(*sender, 3),
            PythonWriter(*sender, 1), PythonWriter(*sender, 2),
            ShellWriter(*sender, 1), ScriptWriter(*sender, 1),
        ]  # fmt: skip
        self.filled = 0
        self.lives = 0
        self.findings = []
        self.errors = collections.Counter()
        self.deaths = collections.Counter()  # what the dead were at
        self._died = None  # the process that the next host has to speak of; 0 where that is not known

    def start(self, prefix=()):
        self.lives += 1
        return Host(self.hostd, self.site, prefix)

    def pause(self, yes):
        for sender in self.senders:
            sender.go_on(not yes)
        time.sleep(0.03 if yes else 0)

    def live(self, moment):
        """Lets a host live and die.

        True where the trap of the moment killed it, false where that was done by the clock, and None where
        it ended by itself before.
        """
        moment.before(self)
        trap = moment.trap(self)
        if trap and moment.is_at_start:
            trap.path = moment.path(self)
        host = self.start(trap.prefix if trap and moment.is_at_start else ())
        try:
            if moment.is_at_start and trap is None:
                time.sleep(self.random.random() * moment.clock)
                host.kill()
                return False
            is_ready = host.is_ready(60)
            self._judge_start(host, is_ready)
            met = self._die(host, moment, trap) if is_ready else True
            code = host.wait(20)
            if code not in (-9, 0) or (code == 0 and not moment.is_at_stop):
                raise Failure(f"it ended with {code}, and was not killed")
            return None if code == 0 else met
        finally:
            self.pause(False)
            self.valve.open()
            if host.wait(0.001) is None:
                host.kill()
            if trap:
                trap.release()
            self._note_end(host)

    def _die(self, host, moment, trap):
        """Brings a host to its death that is ready; true where the trap did it."""
        moment.during(self, host)
        if trap and not moment.is_at_start:
            # What the trap waits for may be known only now.
            trap.path = moment.path(self)
            trap.set(host)
        self.pause(False)
        if moment.is_at_stop:
            host.process.send_signal(signal.SIGTERM)
        if trap and host.wait(moment.patience) is not None:
            return True
        if trap is None:
            time.sleep(self.random.random() * moment.clock)
        host.kill()
        return False

    def _judge_start(self, host, is_ready):
        """What a host says of the death of the last one: one line, and the same in its status."""
        said = host.said("the last host (process")
        if len(said) > 1:
            self.findings.append(f"it says more than once how the last host died: {said}")
        if self._died is None and said:
            self.findings.append(f"the last host has stopped, and yet: {said[0]}")
        if not self._died or not is_ready:
            return
        if not said or f"(process {self._died}) died while " not in said[0]:
            self.findings.append(f"it does not say how process {self._died} died: {said}")
        self.deaths[scene(said[0]) if said else "nothing"] += 1
        try:
            death = host.status().get("lastDeath", {})
        except Failure:
            if host.wait(5) is None:
                raise
            return  # the trap was quicker
        if said and death.get("text") != said[0]:
            self.findings.append(f"the status says of the last death: {death}; the log: {said[0]}")

    def _note_end(self, host):
        """Reads what the modules have noted, and what the host has complained of."""
        for journal in self.journals:
            journal.read()
        for record in host.records:
            is_late = "unresponsive: delivery continues without it" in record["message"]
            if record["level"] not in ("notice", "warning") and not is_late:
                self.errors[re.sub(r"[0-9]+", "N", record["message"])[:160]] += 1
        if host.process.returncode == 0:
            self._died = None
        elif any(r["message"].startswith("ready") for r in host.records):
            self._died = host.pid
        else:
            self._died = 0
        for sender in self.senders:
            if sender.error:
                raise Failure(f"{sender.name} has failed: {sender.error!r}")

    # All of them

    def run(self, kills, only):
        """Kills so many hosts; returns how often that was at each moment, and how often by the clock."""
        moments = [m for m in MOMENTS if only in m.name]
        met, missed, done = collections.Counter(), collections.Counter(), 0
        # The first one makes all that there is to be found, and stops.
        host = self.start()
        if not host.is_ready(60) or host.stop() != 0:
            raise Failure(f"the first host does not start, or not stop:\n{host.text()}")
        for sender in self.senders:
            sender.start()
        while done < kills:
            # Each kind as often as the others, in an order of chance.
            for moment in self.random.sample(moments, len(moments)):
                if done == kills:
                    break
                result = self.live(moment)
                if result is not None:
                    (met if result else missed)[moment.name] += 1
                    done += 1
                    if done % 50 == 0:
                        print(f"{done} of {kills} killed", flush=True)
        return met, missed

    def settle(self):
        """Lets one last host do all that is left, undisturbed."""
        for sender in self.senders:
            sender.end()
        for sender in self.senders:
            sender.join(30)
        self.writer.write(["the-end"])
        host = self.start()
        try:
            if not host.is_ready(60):
                raise Failure(f"the last host does not start:\n{host.text()}")
            self._judge_start(host, True)
            # However much was sent faster than it was delivered, it is all delivered in the end.
            await_end(self.witnesses.values(), self.journals)
            if host.stop() != 0:
                raise Failure(f"the last host does not end with 0:\n{host.text()}")
        finally:
            self.valve.end()
            if host.wait(0.001) is None:
                host.kill()
            self._note_end(host)
        left = [name for name in os.listdir(self.site.inbox) if name.endswith(".tmp")]
        if left:
            self.findings.append(f"the dead have left behind: {left}")
        return check(self.ledger, self.witnesses.values(), self.site.rejected())


def scene(text):
    """What a host was at, without what differs from one to the next."""
    text = re.sub(r"^.* died while ", "", text)
    return re.sub(r" \(inbox .*?\)|'[a-z-]+'(?= |$)", "", text.split(";")[0]).strip()


def summarize(driver, met, missed, given_up, seconds):
    """Prints what was done, and what came of it."""
    print(f"\n{'moment':<42} {'hit':>5} {'by the clock':>13}")
    for moment in MOMENTS:
        if met[moment.name] or missed[moment.name]:
            print(f"{moment.name:<42} {met[moment.name]:>5} {missed[moment.name]:>13}")
    total = sum(met.values()) + sum(missed.values())
    print(f"{'in all':<42} {total:>5} kills of {driver.lives} hosts in {seconds:.0f} s")
    if not driver.can_trap:
        print("no strace that may trace: all by the clock")
    print("\nwhat the next hosts said the dead were at:")
    for what, count in driver.deaths.most_common():
        print(f"    {count:>5}  {what}")
    print(f"\n{'sender':<12} {'sent':>8} {'accepted':>9}")
    for who, (sent, accepted) in sorted(driver.ledger.counts().items()):
        print(f"{who:<12} {sent:>8} {accepted:>9}")
    again = len(driver.ledger.again)
    print(f"{again} sent again after a death, {driver.ledger.duplicates} times answered as duplicates")
    print(f"\n{'module':<18} {'received':>8} {'again, next attempt':>20} {'highest attempt':>16}")
    for witness in driver.witnesses.values():
        print(f"{witness.module:<18} {len(witness.received):>8} {witness.repeated:>20} {witness.attempts:>16}")
    reasons = collections.Counter(
        re.sub(r"[0-9]+", "N", entry["reason"].split(":")[0]) for entry in driver.site.rejected()
    )
    print(f"\nrejected: {sum(reasons.values())} lines, {given_up} of them whole events")
    for reason, count in reasons.most_common():
        print(f"    {count:>5}  {reason}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--stops", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hostd", default=".build/debug/hostd")
    parser.add_argument("--folder", help="where to work, and leave everything; else a temporary one")
    parser.add_argument("--only", default="", help="only moments, or conditions, with this in their names")
    parser.add_argument("--no-strace", action="store_true")
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    hostd = str(pathlib.Path(options.hostd).resolve())
    if options.faults:
        return faults.run(hostd, options.only)
    if options.stops:
        return stops.run(hostd, options.stops, options.seed, options.folder)
    folder = pathlib.Path(options.folder or tempfile.mkdtemp(prefix="crash-"))
    folder.mkdir(parents=True, exist_ok=True)
    driver = Driver(folder, hostd, options.seed, not options.no_strace)
    began = time.monotonic()
    met, missed = driver.run(options.kills, options.only)
    given_up, found = driver.settle()
    summarize(driver, met, missed, given_up, time.monotonic() - began)
    for message, count in driver.errors.most_common():
        driver.findings.append(f"logged {count} times: {message}")
    found += driver.findings
    print()
    for finding in found[:40]:
        print(f"ERROR: {finding}")
    if found:
        print(f"{len(found)} errors, seed {options.seed}; everything is in {folder}")
        return 1
    print(f"0 lost, 0 out of order, 0 invented, 0 repeated but what was current; seed {options.seed}")
    if not options.folder:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"crash: {failure}")
