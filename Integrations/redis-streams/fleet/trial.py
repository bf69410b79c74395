"""The failures of `try-faults`, and the comparison of what was received with what was accepted."""
import os, shutil, signal, time

from fleet import Sender, compare, wait_until
from machines import HOSTS

RECOVERY = 90  # Seconds in which all hosts receive again from all others.
now = time.monotonic


class Trial:
    """The failures, and what may come twice after them."""

    def __init__(self, fleet, chance):
        self.fleet, self.chance = fleet, chance
        self.senders = {host: Sender(fleet, host, pause=0.012, without_id=8, is_uneven=True) for host in HOSTS}
        self.copies, self.kills, self.problems = [], [], []
        # Each host whose disk was full, and the number of messages that it had received before that and after its recovery.
        self.filled = []
        # Each host whose state directory went back, or was copied, and the number of messages that each host had received when
        # that happened, and after its recovery.
        self.restored, self.lost_power = [], set()
        self.marked, self.after_restore, self.late_after_full, self.compared = 0, 0, 0, 0

    # MARK: Waiting

    def is_met(self, condition):
        self.fleet.look_after()
        return condition()

    def have_received(self, goal):
        return self.is_met(lambda: all(
            self.fleet.received[host].last_of(other) >= goal[other] for host in HOSTS for other in HOSTS))

    def recover(self, what):
        """Waits until each host has received an order that each other has accepted after this moment."""
        start = now()
        goal = {host: sender.accepted + 1 for host, sender in self.senders.items()}
        wait_until(f"all hosts receive from all others after: {what}", lambda: self.have_received(goal), RECOVERY)
        for each in self.filled:
            each[2] = each[2] or len(self.fleet.received[each[0]].read())
        for each in self.restored:
            each[2] = each[2] or self.counts()
        return now() - start

    def last(self, sender):
        """The last order that a host has certainly accepted."""
        number = sender.accepted - 1
        return number - 1 if number in sender.unknown else number

    def settle(self, what, limit=RECOVERY):
        """Lets the senders rest until every host has received all that was accepted."""
        for sender in self.senders.values():
            sender.resting.set()
        self.fleet.rest(0.2)
        wait_until(f"all is received before {what}", lambda: self.have_received(
            {host: self.last(sender) for host, sender in self.senders.items()}), limit)

    def resume(self):
        for sender in self.senders.values():
            sender.resting.clear()

    # MARK: Failures; each returns what was done

    def host_killed(self):
        host = self.chance.choice(HOSTS)
        self.fleet.kill(host)
        self.fleet.rest(self.chance.uniform(0, 1.5))
        self.fleet.start(host)
        return f"kill -9 of host {host}"

    def bridge_killed(self):
        host = self.chance.choice(HOSTS)
        # Five ends in 30 s are a failure of the module.
        self.kills = [each for each in self.kills if each > now() - 30]
        if len(self.kills) < 3:
            self.fleet.kill_bridge(host)
            self.kills.append(now())
        return f"kill -9 of the bridge of {host}"

    def redis_killed(self):
        self.fleet.kill("redis")
        self.fleet.start("redis")
        return "kill -9 of Redis"

    def redis_away(self):
        self.fleet.kill("redis")
        seconds = self.chance.uniform(2, 7)
        self.fleet.rest(seconds)
        self.fleet.start("redis")
        return f"Redis away for {seconds:.1f} s"

    def redis_hangs(self):
        process, seconds = self.fleet.running["redis"], self.chance.uniform(1, 8)
        process.send_signal(signal.SIGSTOP)
        self.fleet.rest(seconds)
        process.send_signal(signal.SIGCONT)
        return f"Redis stopped for {seconds:.1f} s"

    def partition(self):
        host, is_silent, seconds = self.chance.choice(HOSTS), self.chance.random() < 0.6, self.chance.uniform(1, 9)
        self.fleet.network.cut(host, is_silent)
        also = ""
        if self.chance.random() < 0.4:
            self.fleet.rest(seconds / 2)
            self.fleet.kill(host)
            self.fleet.start(host)
            also = ", and killed meanwhile"
        self.fleet.rest(seconds)
        self.fleet.network.heal(host)
        return f"{host} cut off for {seconds:.1f} s{' (packets vanish)' if is_silent else ''}{also}"

    def host_disk_full(self):
        host, seconds = self.chance.choice(HOSTS), self.chance.uniform(1, 5)
        self.filled.append([host, len(self.fleet.received[host].read()), None])
        self.fleet.disks[host].fill()
        self.fleet.rest(seconds)
        self.fleet.disks[host].make_room()
        return f"disk of {host} full for {seconds:.1f} s"

    def redis_disk_full(self):
        seconds = self.chance.uniform(1, 5)
        self.fleet.disks["redis"].fill()
        self.fleet.rest(seconds)
        self.fleet.disks["redis"].make_room()
        return f"disk of Redis full for {seconds:.1f} s"

    def memory_full(self):
        seconds = self.chance.uniform(2, 6)
        used = self.fleet.redis("INFO", "memory").split("used_memory:")[1].split()[0]
        self.fleet.redis("CONFIG", "SET", "maxmemory", used)
        self.fleet.rest(seconds)
        self.fleet.redis("CONFIG", "SET", "maxmemory", "0")
        return f"memory of Redis full for {seconds:.1f} s"

    def redis_power(self):
        self.fleet.lose_power("redis")
        self.fleet.start("redis")
        return "Redis lost power"

    def host_power(self):
        host = self.chance.choice(HOSTS)
        self.fleet.lose_power(host)
        self.lost_power.add(host)
        self.fleet.start(host)
        return f"host {host} lost power"

    def restored_backup(self):
        """What a host has accepted since the backup is on the other disks before it goes back: a disk that is lost loses more."""
        host = self.chance.choice(HOSTS)
        backup = os.path.join(self.fleet.folder, host, "backup")
        self.back_up(host, backup)
        kept = self.senders[host].accepted
        self.recover("the backup")
        self.fleet.rest(self.chance.uniform(0.5, 2))
        self.settle("the restore")
        self.fleet.kill(host)
        shutil.rmtree(self.fleet.state(host))
        shutil.copytree(backup, self.fleet.state(host), symlinks=True)
        os.sync()  # It may lose power next.
        self.note_restored(host)
        self.fleet.start(host)
        self.resume()
        return f"state directory of {host} restored, without its last {self.senders[host].accepted - kept} orders"

    def back_up(self, host, folder):
        """Copies a state directory while its host is stopped; sockets are left out."""
        stopped = self.fleet.stop_all_of(host)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.fleet.state(host), folder, symlinks=True,
                        ignore=lambda path, names: [n for n in names if n.endswith(".sock")])
        for process in stopped:
            os.kill(process, signal.SIGCONT)

    def note_restored(self, host):
        self.restored.append([host, self.counts(), None])

    def counts(self):
        return {each: len(self.fleet.received[each].read()) for each in HOSTS}

    def copied_host(self):
        """A second machine with the state directory of another, and so with its host id."""
        host, copy, fleet = self.chance.choice(HOSTS), "defghijklmnopqrstuvwxyz"[len(self.copies)], self.fleet
        fleet.network.add(copy)
        fleet.add(copy)
        self.back_up(host, fleet.state(copy))
        # Of what came before, the copy receives only what its host was not done with.
        first = {each: self.senders[each].accepted + 1 for each in HOSTS}
        self.note_restored(host)
        fleet.start(copy)
        sender = Sender(fleet, copy, pause=0.012, without_id=8, is_uneven=True)
        sender.start()
        self.copies.append(sender)
        wait_until(f"the copy of {host} accepts orders", lambda: self.is_met(lambda: sender.accepted >= 50), RECOVERY)
        sender.end()
        goal = {each: self.senders[each].accepted for each in HOSTS}
        wait_until(f"all hosts receive the orders of the copy of {host}, and it theirs", lambda: self.is_met(lambda: all(
            fleet.received[each].last_of(copy) >= sender.accepted - 2 and fleet.received[copy].last_of(each) >= goal[each]
            for each in HOSTS)), 2 * RECOVERY)
        self.settle("the end of the copy")
        wait_until("the copy receives the last orders", lambda: self.is_met(lambda: all(
            fleet.received[copy].last_of(each) >= self.last(self.senders[each]) for each in HOSTS)), RECOVERY)
        fleet.kill(copy)
        self.resume()
        for each in HOSTS:
            # Of the host that it is a copy of it reads the former stream and the new one.
            self.note(copy, self.senders[each], first[each], is_ordered=each != host)
        del fleet.running[copy]
        fleet.disks.pop(copy).remove()
        return f"copy of {host} on another machine, with {sender.accepted} orders of its own"

    # MARK: Comparing

    def note(self, host, sender, first=0, is_ordered=True):
        """Compares what a host has received with what another has accepted, from an order on."""
        lost, late, twice, unmarked = compare(self.fleet.received[host].read(), sender, first)
        self.compared += sender.accepted - first
        self.marked += twice - len(unmarked)
        for place, former, number in unmarked:
            if self.is_after_restore(host, sender.host, former, place):
                self.after_restore += 1
            else:
                self.problems.append(f"{host} received order {number} of {sender.host} twice, unmarked")
        if lost:
            self.problems.append(f"{host} never received {len(lost)} orders of {sender.host}: {lost[:10]}")
        # The limit that README.md names.
        inverted = [number for place, number in late if not self.is_after_full(host, place)]
        self.late_after_full += len(late) - len(inverted)
        if inverted and is_ordered:
            self.problems.append(f"{host} received {len(inverted)} orders of {sender.host} behind a later one: {inverted[:10]}")

    def is_after_full(self, host, place):
        return any(each == host and first <= place < last for each, first, last in self.filled)

    def is_after_restore(self, host, sender, former, place):
        """Whether an order may come twice: the former time was before the recovery, and this one is not before the restore."""
        return any(each in (host, sender) and place >= before.get(host, 0) and (after is None or former < after.get(host, 0))
                   for each, before, after in self.restored)

    def compare_all(self):
        for host in HOSTS:
            for sender in [*self.senders.values(), *self.copies]:
                self.note(host, sender)
            letters = os.path.join(self.fleet.state(host), "inbox", "dead-letters.ndjson")
            if os.path.exists(letters) and os.path.getsize(letters):
                self.problems.append(f"host {host} has dead letters: {letters}")
            if "." in self.fleet.stream(host) and host not in {each for each, _, _ in self.restored} | self.lost_power:
                self.problems.append(f"host {host} began a new stream, although its state directory never went back")
        dead = self.fleet.redis("XLEN", "shop:dead")
        if dead != "0":
            self.problems.append(f"{dead} dead letters are in Redis")
