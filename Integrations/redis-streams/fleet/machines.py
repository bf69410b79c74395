"""Hosts and a Redis server that have networks and disks of their own."""
import os, signal, time, uuid

from disk import Disk
from fleet import Fleet, children
from network import network

HOSTS = "abc"
BOOT = "/proc/sys/kernel/random/boot_id"


class Machines(Fleet):
    """A fleet whose members have networks and disks of their own, and a service manager, which starts what has ended."""

    def __init__(self, folder, bridge, hostd):
        self.network, self.disks, self.is_down, self.ends = network(HOSTS), {}, set(), []
        super().__init__(folder, bridge, hostd, HOSTS)
        self.add_disk("redis", 192)

    def add(self, host):
        super().add(host)
        self.add_disk(host, 96)

    def add_disk(self, name, megabytes):
        folder = os.path.join(self.folder, name, "disk")
        self.disks[name] = Disk(folder, megabytes, os.path.join(self.folder, name + ".img"))

    def state(self, host):
        return os.path.join(self.disks[host].folder, ".hostd")

    def redis_command(self):
        command = super().redis_command()
        command[command.index("--port"):command.index("--port") + 2] = self.network.server_options
        command[command.index("--dir") + 1] = self.disks["redis"].folder
        return self.network.command("redis", command)

    def host_command(self, host):
        command = self.network.command(host, super().host_command(host))
        if "FLEET_IS_APART" not in os.environ:
            return command
        # By this file a host knows that its machine went down.
        return ["unshare", "--mount", "sh", "-c", f'mount --bind "$0" {BOOT} && exec "$@"', self.boot(host), *command]

    def boot(self, host):
        path = os.path.join(self.folder, host, "boot")
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(f"{uuid.uuid4()}\n")
        return path

    def url(self, host):
        return self.network.url(host)

    def start(self, name):
        self.is_down.discard(name)
        super().start(name)

    def kill(self, name):
        self.is_down.add(name)
        super().kill(name)

    def look_after(self):
        """Starts what has ended by itself, and notes that."""
        for name, process in list(self.running.items()):
            if name not in self.is_down and process.poll() is not None:
                self.ends.append((name, process.returncode))
                time.sleep(0.5)
                self.start(name)

    def rest(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look_after()
            time.sleep(0.05)

    def stop_all_of(self, name):
        """Stops a process and all that it has started, in no time as their disk sees it."""
        found, todo = [], [self.running[name].pid]
        while todo:
            process = todo.pop()
            found.append(process)
            os.kill(process, signal.SIGSTOP)
            todo += children(process)
        return found

    def lose_power(self, name):
        stopped = self.stop_all_of(name)
        self.disks[name].copy()
        self.is_down.add(name)
        for process in stopped:
            os.kill(process, signal.SIGKILL)
        self.running[name].wait()
        self.disks[name].lose_power()
        if name != "redis":
            os.remove(self.boot(name))
