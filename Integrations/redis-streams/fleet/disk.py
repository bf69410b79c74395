"""Small disks for state directories and for Redis, which can be filled, and lose power."""
import os, shutil, subprocess, time


class Disk:
    """A file system of its own at a folder: on a loop device, else in memory, else none."""

    def __init__(self, folder, megabytes, image):
        self.folder, self.image = folder, image
        os.makedirs(folder, exist_ok=True)
        self.kind = "plain"
        if self.make(megabytes):
            self.kind = "loop"
        elif run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", folder):
            self.kind = "memory"

    def make(self, megabytes):
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        # Nothing is written later by the system itself, so that only what was waited for is on the disk.
        return (run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)
                and self.mount())

    def mount(self):
        return run("mount", "-o", "loop,commit=300", self.image, self.folder)

    def fill(self):
        """Leaves no room at all."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def make_room(self):
        if os.path.exists(self.filler):
            os.remove(self.filler)

    @property
    def filler(self):
        return os.path.join(self.folder, "filler")

    def copy(self):
        """Copies what the file system has written, which is what a loss of power leaves. Its users must be stopped.

        A write that was under way when they were stopped ends first.
        """
        device = subprocess.run(["losetup", "-n", "-O", "NAME", "-j", self.image], capture_output=True, text=True,
                                check=True).stdout.split()[0]
        statistics = f"/sys/block/{os.path.basename(device)}/stat"
        for _ in range(50):
            before = written(statistics)
            time.sleep(0.05)
            subprocess.run(["cp", "--sparse=always", self.image, self.image + ".copy"], check=True)
            if written(statistics) == before:
                return
        raise SystemExit(f"{self.image} is written all the time, although its users are stopped")

    def lose_power(self):
        """Goes on with the copy. Its users must have ended."""
        for _ in range(100):
            if run("umount", self.folder):
                break
            time.sleep(0.1)
        else:
            raise SystemExit(f"{self.folder} is in use, although its users have ended")
        os.replace(self.image + ".copy", self.image)
        if not self.mount():
            raise SystemExit(f"cannot mount {self.image} after the loss of power")

    def remove(self):
        if self.kind != "plain":
            run("umount", "-l", self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def written(statistics):
    """The number of writes that a device has done and has not done yet."""
    with open(statistics) as file:
        fields = file.read().split()
    return fields[4], fields[8]


def run(*command):
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
