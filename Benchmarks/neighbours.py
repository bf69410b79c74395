#!/usr/bin/env python3
"""How long a call of a healthy module takes beside a module in a process of its own that is a burden.

    neighbours.py HOSTD         prints a table: the burden in the same host, and beside it in another one
    neighbours.py module WAY    is that module

In each round one client calls an action of the healthy module every millisecond. The burden hangs in a call from outside, does
not read what it is asked, sends durable events as fast as they are accepted, 64 at a time, or takes 20 ms for each message, of which
one is posted every 40 ms.
"""

import json
import os
import pathlib
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../scripts'))
from whole_process import spawn  # noqa: E402

CALLS, ROUNDS = 2000, 3
WAYS = {'hangs': 'hangs in a call', 'deaf': 'does not read', 'sends': 'sends at full rate', 'slow': 'takes 20 ms for a message'}


def serve(way):
    """The module that is a burden."""
    lock, room = threading.Lock(), threading.Semaphore(64)

    def write(**message):
        with lock:
            sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
            sys.stdout.flush()

    def send():
        number = 0
        while True:
            room.acquire()
            number += 1
            write(id=number, method='send', params={'event': 'message', 'payload': {'topic': 'burden'}})

    for line in sys.stdin:
        message = json.loads(line)
        method = message.get('method')
        if method is None:
            room.release()
        elif method == 'initialize':
            routes = [{'pattern': 'burden', 'access': 'public', 'parameters': [{'name': 'text', 'required': False}]}]
            write(id=message['id'], result={'protocol': 2, 'module': message['params']['module'], 'routes': routes,
                                             'events': ['message'], 'topics': ['slow']})
            if way == 'sends':
                threading.Thread(target=send, daemon=True).start()
            if way == 'deaf':
                time.sleep(3600)
        elif method == 'call':
            time.sleep(3600)
        elif way == 'slow':
            time.sleep(0.02)
            write(id=message['id'], result=None)
        else:
            write(id=message['id'], result=None)


class Host:
    """A running host with a healthy module, and with the burden where a way is given."""

    def __init__(self, hostd, way=None):
        self.folder = tempfile.TemporaryDirectory(prefix='modulehost-neighbours-')
        modules = [{'id': 'com.mm.main', 'entry': 'Modules.MainModule', 'main': True}, {'id': 'com.mm.community', 'entry': 'Modules.CommunityModule'}]
        if way:
            command = [sys.executable, os.path.realpath(__file__), 'module', way]
            modules.append({'id': 'com.mm.burden', 'command': command})
        slatefile = {'slate': 1, 'app': 'neighbours', 'config': {'domain': 'https://www.example.com'}, 'modules': modules}
        path = pathlib.Path(self.folder.name)
        (path / 'slatefile.json').write_text(json.dumps(slatefile))
        self.process, _ = spawn(
            [hostd, 'run', '--slatefile', str(path / 'slatefile.json'), '--state-dir', str(path / 'state'), '--log-level', 'error'],
            str(path / 'log'))
        self.path = str(path / 'state' / 'control.sock')
        self.client = self.connect()

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.path)
        return client

    def stop(self):
        # Not by `stop`: the burden may be left behind.
        os.kill(self.process, signal.SIGTERM)
        os.waitpid(self.process, 0)
        self.folder.cleanup()


def line(module, action, **parameters):
    call = {'module': module, 'action': action, 'parameters': parameters}
    return json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'call', 'params': call}).encode() + b'\n'


POST = b'{"jsonrpc": "2.0", "id": 1, "method": "post", "params": {"topic": "slow"}}\n'


class Burden:
    """Who calls the burden, until it is over."""

    def __init__(self, host, way):
        self.over = threading.Event()
        text = 'x' * 60000 if way == 'deaf' else ''
        request = POST if way == 'slow' else line('com.mm.burden', 'burden', text=text)
        self.thread = threading.Thread(target=self.run, args=(host, request))
        self.calls, self.pause = way != 'sends', 0.04 if way == 'slow' else 0.05
        self.thread.start()

    def run(self, host, request):
        clients = []
        while self.calls and not self.over.is_set():
            # One that has no answer yet is left alone: each call has a connection of its own.
            client = host.connect()
            client.sendall(request)
            clients = clients[-32:] + [client]
            self.over.wait(self.pause)

    def end(self):
        self.over.set()
        self.thread.join()


def measure(host):
    """The times of the calls in µs, sorted."""
    request, times = line('com.mm.community', 'userInfo', style=1), []
    stream = host.client.makefile('rb')
    for _ in range(CALLS):
        begin = time.perf_counter_ns()
        host.client.sendall(request)
        answer = stream.readline()
        times.append((time.perf_counter_ns() - begin) / 1000)
        if b'"result"' not in answer:
            sys.exit(f'neighbours.py: the healthy module answered {answer!r}')
        time.sleep(0.001)
    return sorted(times)


def run(hostd, way, is_same):
    hosts = [Host(hostd, way)] if is_same else [Host(hostd), Host(hostd, way)]
    burden = Burden(hosts[-1], way)
    try:
        return measure(hosts[0])
    finally:
        burden.end()
        for host in hosts:
            host.stop()


def main():
    if len(sys.argv) == 3 and sys.argv[1] == 'module':
        return serve(sys.argv[2])
    if len(sys.argv) != 2:
        sys.exit('usage: neighbours.py HOSTD')
    print('| a call of a healthy module beside one that | same host: p50, p99, longest, µs | other host: p50, p99, longest, µs | p99 |')
    print('|---|---:|---:|---:|')
    for way, title in WAYS.items():
        figures = {True: [], False: []}
        for number in range(ROUNDS):
            for is_same in (True, False) if number % 2 else (False, True):
                times = run(sys.argv[1], way, is_same)
                figures[is_same].append((times[len(times) // 2], times[len(times) * 99 // 100], times[-1]))
        median = {key: [statistics.median(row[i] for row in rows) for i in range(3)] for key, rows in figures.items()}
        cells = [', '.join(f'{value:.0f}' for value in median[key]) for key in (True, False)]
        print(f'| {title} | {cells[0]} | {cells[1]} | {median[True][1] / median[False][1]:.2f} × |', flush=True)


if __name__ == '__main__':
    main()
