"""The networks between hosts and a Redis server, in which a host can be cut off.

`Namespaces` gives each of them a network namespace and an address of its own, on one switch. If that is not allowed, `Proxies` puts a
proxy between each host and the server.
"""
import os, select, socket, subprocess, sys, threading, time

# A process tree of its own, with its own network, mounts and numbers: all of it ends with the script, however that ends.
UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
USER = ["--user", "--map-root-user"] if os.geteuid() else []
PORT = 6379


def enter():
    """Runs the script again in namespaces of its own, if that is allowed; returns in it, or if it is not."""
    if "FLEET_IS_APART" in os.environ:
        return
    apart = UNSHARE[:1] + USER + UNSHARE[1:]
    trial = "ip link add name one type veth peer name other && ip link add name third type bridge && unshare --net true"
    try:
        subprocess.run([*apart, "sh", "-c", trial], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return
    # A shell is the first process, since it takes away the remains of others' children.
    os.execvpe("unshare", [*apart, "sh", "-c", '"$0" "$@"; exit $?', sys.executable, *sys.argv],
               {**os.environ, "FLEET_IS_APART": "1"})


def network(names):
    return Namespaces(names) if "FLEET_IS_APART" in os.environ else Proxies(names)


class Namespaces:
    """Network namespaces on a switch."""

    description = "each host and Redis in a network namespace of its own"

    def __init__(self, names):
        self.keepers, self.addresses = {}, {}
        ip("link", "set", "lo", "up")
        ip("link", "add", "name", "switch", "type", "bridge")
        ip("link", "set", "switch", "up")
        for name in ["redis", *names]:
            self.add(name)

    def add(self, name):
        # The namespace lives as long as a process does.
        keeper = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{keeper.pid}/ns/net") == own:
            time.sleep(0.01)
        self.keepers[name], self.addresses[name] = keeper, f"10.77.0.{len(self.addresses) + 1}"
        ip("link", "add", "name", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", str(keeper.pid))
        ip("link", "set", f"to-{name}", "master", "switch", "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", self.addresses[name] + "/24", "dev", "eth0"],
                      ["link", "set", "eth0", "up"]):
            subprocess.run(self.command(name, ["ip", *words]), check=True)

    def command(self, name, command):
        """A command that runs in the namespace."""
        return ["nsenter", f"--net=/proc/{self.keepers[name].pid}/ns/net", *command]

    def url(self, name):
        return f"redis://{self.addresses['redis']}:{PORT}"

    server_options = ["--bind", "0.0.0.0", "--port", str(PORT), "--protected-mode", "no"]

    def cut(self, name, is_silent):
        """Cuts the cable, or has all packets vanish."""
        if is_silent:
            ip("link", "set", f"to-{name}", "nomaster")
        else:
            ip("link", "set", f"to-{name}", "down")

    def heal(self, name):
        ip("link", "set", f"to-{name}", "master", "switch", "up")


class Proxies:
    """A proxy for each host, on loopback."""

    description = "no network namespaces here: each host behind a proxy that drops its connections"

    def __init__(self, names):
        self.port = free_port()
        self.server_options = ["--bind", "127.0.0.1", "--port", str(self.port)]
        self.proxies = {}
        for name in names:
            self.add(name)

    def add(self, name):
        self.proxies[name] = Proxy(self.port)

    def command(self, name, command):
        return command

    def url(self, name):
        return f"redis://127.0.0.1:{self.proxies[name].port}"

    def cut(self, name, is_silent):
        self.proxies[name].cut(is_silent)

    def heal(self, name):
        self.proxies[name].heal()


class Proxy:
    """Passes connections on; when it is cut, it passes nothing, or ends them."""

    def __init__(self, server):
        self.server, self.is_open, self.pairs = server, threading.Event(), []
        self.is_open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut(self, is_silent):
        self.is_open.clear()
        if not is_silent:
            for pair in list(self.pairs):
                for each in pair:
                    close(each)

    def heal(self):
        self.is_open.set()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.is_open.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self.server), timeout=5)
        except OSError:
            return close(client)
        pair = (client, server)
        self.pairs.append(pair)
        try:
            while True:
                for one in select.select(pair, [], [])[0]:
                    self.is_open.wait()
                    data = one.recv(1 << 16)
                    if not data:
                        return
                    pair[one is client].sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            self.pairs.remove(pair)
            for each in pair:
                close(each)
                each.close()


def close(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It has ended already.


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def ip(*words):
    subprocess.run(["ip", *words], check=True)
