"""A Redis server and hosts with a bridge, started and killed by the scripts `try`, `try-faults` and `measure`."""
import json, os, signal, socket, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 40  # Seconds in which anything must happen; each wait ends as soon as it has.


class Fleet:
    """The processes, in a folder: `redis`, and hosts whose names are single letters."""

    def __init__(self, folder, bridge, hostd, hosts="ab"):
        self.folder, self.hostd, self.hosts, self.running = folder, hostd, hosts, {}
        self.socket = os.path.join(folder, "redis.sock")
        self.received = {}
        self.variables = {**os.environ, "PATH": f"{os.path.dirname(bridge)}:{os.environ['PATH']}"}
        for host in hosts:
            self.add(host)

    def add(self, host):
        os.mkdir(os.path.join(self.folder, host))
        self.received[host] = Received(os.path.join(self.folder, host, "received.ndjson"))

    def state(self, host):
        """The state directory."""
        return os.path.join(self.folder, host, ".hostd")

    def redis_command(self):
        return ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder,
                "--appendonly", "yes", "--appendfsync", "always", "--save", ""]

    def host_command(self, host):
        return [self.hostd, "run", "--slatefile", os.path.join(HERE, "Example", "slatefile.json"),
                "--state-dir", self.state(host)]

    def url(self, host):
        """The server, as a host reaches it."""
        return f"unix:{self.socket}"

    def start(self, name):
        variables = dict(self.variables)
        if name != "redis":
            variables |= {"REDIS_URL": self.url(name), "RECEIVED": self.received[name].path}
        command = self.redis_command() if name == "redis" else self.host_command(name)
        with open(os.path.join(self.folder, name + ".log"), "a") as log:
            self.running[name] = subprocess.Popen(
                command, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, name):
        """As `kill -9` does; a host's modules end by themselves."""
        self.running[name].kill()
        self.running[name].wait()

    def bridge(self, host):
        """The number of the process of a host's bridge; nil while it is starting."""
        parent = self.running[host].pid
        for child in children(parent):
            try:
                with open(f"/proc/{child}/comm") as file:
                    # A module's process has its id as the name.
                    if file.read().strip() in ("redis-bridge", "com.example.redis"[:15]):
                        return child
            except OSError:
                continue
        return None

    def kill_bridge(self, host):
        """Kills the bridge alone; its host starts it again."""
        wait_until(f"host {host} has a bridge", lambda: self.bridge(host))
        os.kill(self.bridge(host), signal.SIGKILL)

    def stream(self, host):
        with open(os.path.join(self.state(host), "redis-stream.json")) as file:
            return json.load(file)["name"]

    def redis(self, *words):
        """The reply of the server to a command, as `redis-cli` prints it."""
        return subprocess.run(["redis-cli", "-s", self.socket, *words], capture_output=True, text=True,
                              timeout=LIMIT).stdout.strip()

    def end(self):
        for process in self.running.values():
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


class Received:
    """The messages that the module of a host has received: the host and number of each order, and whether it came as repeated."""

    def __init__(self, path):
        self.path, self.orders, self.last, self.offset = path, [], {}, 0

    def read(self):
        """Reads what was added to the file, and returns all orders."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                added = file.read()
        except FileNotFoundError:
            return self.orders
        added = added[:added.rfind(b"\n") + 1]  # The module may be writing the last line.
        self.offset += len(added)
        for line in added.splitlines():
            parameters = json.loads(line)["params"]
            if parameters.get("event") == "message":
                host, number = parameters["payload"]["payload"]["order"].split()[:2]
                self.orders.append((host, int(number), bool(parameters.get("repeated"))))
                self.last[host] = max(self.last.get(host, -1), int(number))
        return self.orders

    def last_of(self, host):
        """The highest number of a host's order, or -1."""
        self.read()
        return self.last.get(host, -1)


class Sender(threading.Thread):
    """Sends orders to a host until it is to end, each until the host has accepted it.

    `pause` are the seconds between two orders; of `without_id` orders one has no id, and in `is_uneven` ones some are large.
    An order with an id is sent again. One without is not: it is not known whether the host has accepted it before it was killed.
    """

    def __init__(self, fleet, host, pause=0.0, without_id=0, is_uneven=False):
        super().__init__(daemon=True)
        self.path, self.host, self.pause, self.without_id, self.is_uneven = (
            os.path.join(fleet.state(host), "control.sock"), host, pause, without_id, is_uneven)
        # The number of the next order; the numbers of which it is not known whether they were accepted.
        self.accepted, self.unknown = 0, set()
        self.ending, self.resting = threading.Event(), threading.Event()

    def run(self):
        while not self.ending.is_set():
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(LIMIT)
                    connection.connect(self.path)
                    stream = connection.makefile("rwb")
                    while not self.ending.is_set():
                        if not self.resting.is_set():
                            self.send(stream)
                        if self.pause:
                            self.ending.wait(self.pause)
            except (OSError, ValueError):
                self.ending.wait(0.02)  # The host was killed.

    def send(self, stream):
        order = self.accepted
        # Always the same, since it may be sent again.
        size = order * 7919 % 4000 if self.is_uneven and order % 4 == 0 else 0
        parameters = {"event": "message", "payload": {
            "topic": "shared.order", "payload": {"order": f"{self.host} {order} {'x' * size}"}}}
        has_id = not self.without_id or order % self.without_id > 0
        if has_id:
            parameters["id"] = f"{self.host}-{order}"
        request = {"jsonrpc": "2.0", "id": order, "method": "send", "params": parameters}
        try:
            stream.write(json.dumps(request).encode() + b"\n")
            stream.flush()
            line = stream.readline()
            if not line.endswith(b"\n"):
                raise OSError("the host has gone")
        except OSError:
            if not has_id:
                self.unknown.add(order)
                self.accepted += 1
            raise
        if "result" in json.loads(line):
            self.accepted += 1
        else:
            self.ending.wait(0.1)  # Such as a full disk.

    def end(self):
        self.ending.set()
        self.join()


def children(parent):
    """The numbers of the processes that a process has started."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    except OSError:
        pass  # It has ended.
    return found


def wait_until(what, is_met, limit=LIMIT):
    end = time.monotonic() + limit
    while not is_met():
        if time.monotonic() > end:
            sys.exit(f"after {limit}s not yet: {what}")
        time.sleep(0.02)


def compare(received, sender, first_number=0):
    """Compares the orders that a module has received with those that a host has accepted.

    Returns the numbers that were lost; the places in `received` and the numbers of those that came behind a later one; how many
    came twice; and of those that were not marked as repeated the places, now and before, and the numbers.
    """
    seen, lost, late, unmarked, twice, highest = {}, [], [], [], 0, -1
    for place, (host, number, repeated) in enumerate(received):
        if host != sender.host:
            continue
        if number in seen:
            twice += 1
            if not repeated:
                unmarked.append((place, seen[number], number))
        elif number < highest and number >= first_number:
            late.append((place, number))
        highest = max(highest, number)
        seen.setdefault(number, place)
    lost = [number for number in range(first_number, sender.accepted)
            if number not in seen and number not in sender.unknown]
    return lost, late, twice, unmarked
