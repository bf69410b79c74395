"""A host as a process: its start, its log, its death; and strace, which lets it die where one wants."""

import json
import os
import select
import shutil
import signal
import subprocess
import threading
import time


class Failure(Exception):
    """Something is not as it has to be."""


class Host:
    """One life of `hostd run` on a site."""

    def __init__(self, hostd, site, prefix=(), environment=None):
        self.hostd = hostd
        self.site = site
        self.records = []  # what it logged, from `notice` on
        self.command = [
            *prefix, hostd, "run", "--slatefile", str(site.slatefile), "--state-dir",
            str(site.state), "--log-format", "json", "--log-level", "notice",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        self.pid = self.process.pid
        self._log = threading.Thread(target=self._read_log, daemon=True)
        self._log.start()

    def _read_log(self):
        for line in self.process.stderr:
            try:
                self.records.append(json.loads(line))
            except ValueError:
                self.records.append({"level": "none", "message": line.decode(errors="replace").strip()})

    def is_ready(self, within):
        """Waits for the line that it prints when the app has launched; false where it ends before."""
        deadline = time.monotonic() + within
        line = b""
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failure(f"not ready within {within} s: {self.command}\n{self.text()}")
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                return False
            line += byte
        # It has logged that before, and its thread may read that later.
        while self._log.is_alive() and not self.said("ready: ") and time.monotonic() < deadline:
            time.sleep(0.001)
        return True

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        return self.wait(10)

    def stop(self, within=20):
        """Asks it to stop, and returns the code that it ended with."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(within)

    def wait(self, within):
        """Waits for its end: its exit code, or the number of a signal, negative; None where it lives."""
        try:
            code = self.process.wait(max(0.001, within))
        except subprocess.TimeoutExpired:
            return None
        self._log.join(10)
        self.process.stdout.close()
        return code

    def says(self, text, within=10):
        """Waits until it has logged something with this text."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            for record in list(self.records):
                if text in record["message"]:
                    return record
            time.sleep(0.005)
        raise Failure(f"it did not log '{text}' within {within} s:\n{self.text()}")

    def says_once(self, text):
        """Waits until it has logged something with this text, which it must not have done twice."""
        self.says(text)
        if len(self.said(text)) != 1:
            raise Failure(f"it logged '{text}' more than once:\n{self.text()}")

    def said(self, text):
        return [r["message"] for r in list(self.records) if text in r["message"]]

    def text(self):
        """Its log, to be looked at."""
        return "\n".join(
            f"    {r['level']}: {r.get('module', 'host')}: {r['message']}" for r in list(self.records)
        )

    def command_line(self, command, *options):
        """Runs a command of hostd on the same site."""
        return subprocess.run(
            [self.hostd, command, "--slatefile", str(self.site.slatefile), "--state-dir",
             str(self.site.state), *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def status(self):
        """What `hostd status` says; a failure where it does not work."""
        deadline = time.monotonic() + 30
        done = self.command_line("status", "--json")
        while done.returncode == 75 and time.monotonic() < deadline:  # busy; try again
            done = self.command_line("status", "--json")
        if done.returncode != 0:
            raise Failure(f"hostd status ended with {done.returncode}: {done.stderr}\n{self.text()}")
        return json.loads(done.stdout)

    def when_idle(self):
        """Waits until no module is running: one notes what it received before its handler returns."""
        self.status()

    def modules(self):
        return {m["id"]: m for m in json.loads(self.command_line("modules", "--json").stdout)}


class Trap:
    """Kills a process at the very moment at which it enters the n-th of some system calls.

    The call itself is not carried out.
    """

    def __init__(self, calls, count, path=None):
        self.calls, self.count, self.path = calls, count, path
        self._strace = None

    @property
    def _options(self):
        place = ["-P", str(self.path)] if self.path else []
        return [
            "-f", "-o", "/dev/null", *place, "-e", f"trace={self.calls}", "-e", "signal=none",
            "-e", f"inject={self.calls}:signal=SIGKILL:when={self.count}",
        ]  # fmt: skip

    @property
    def prefix(self):
        """What starts a command with the trap set, its process the caller's own child."""
        return ["strace", "-D", "-qq", *self._options]

    def set(self, host):
        """Sets it for a process that runs."""
        self._strace = subprocess.Popen(
            ["strace", "-p", str(host.pid), *self._options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        for line in self._strace.stderr:
            if b"attached" in line:
                return
        raise Failure("strace does not attach")

    def release(self):
        """To be called when the process is dead."""
        if self._strace:
            self._strace.wait(10)
            self._strace.stderr.close()


def can_trap():
    """Whether there is a strace here that may do its work."""
    if not shutil.which("strace"):
        return False
    tried = subprocess.run(
        [*Trap("getppid", 1).prefix, "sh", "-c", "true"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    traced = subprocess.Popen(["sleep", "10"])
    try:
        attached = subprocess.run(
            ["timeout", "2", "strace", "-p", str(traced.pid), "-o", "/dev/null", "-e", "trace=write"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        return tried.returncode in (0, -signal.SIGKILL) and b"attached" in attached.stderr
    finally:
        traced.kill()
        traced.wait()
