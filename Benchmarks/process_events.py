#!/usr/bin/env python3
"""What an event of the inbox for a module in a process of its own costs the host: processor time, all of it and by thread.

    process_events.py HOSTD…    prints a table: each host with its lines of the log, and without
    process_events.py module    is that module

The events lie in the inbox before the host starts. The module has a window of 64, reads what there is and answers all of it with one
write, so that the host is what limits it. With several hosts they take turns.
"""

import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../scripts'))
from whole_process import spawn  # noqa: E402

EVENTS, ROUNDS, WINDOW = 50_000, 5, 64
THREADS = ('lane', 'inbox', 'modules')


def serve():
    number, rest = re.compile(rb'"id":(\d+)'), b''
    while data := os.read(0, 1 << 16):
        *lines, rest = (rest + data).split(b'\n')
        answers = []
        for line in lines:
            if b'"method":"initialize"' in line:
                message = json.loads(line)
                result = {'protocol': 3, 'module': message['params']['module'], 'events': ['message'], 'topics': ['load'], 'window': WINDOW}
                answers.append(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}).encode())
            elif found := number.search(line):
                answers.append(b'{"jsonrpc":"2.0","id":' + found.group(1) + b',"result":null}')
        if answers:
            sys.stdout.buffer.write(b'\n'.join(answers) + b'\n')
            sys.stdout.buffer.flush()


def processor_time(process):
    """Seconds, by the names of the threads."""
    times = {}
    for task in pathlib.Path(f'/proc/{process}/task').iterdir():
        name = (task / 'comm').read_text().strip()
        times[name] = times.get(name, 0) + int((task / 'schedstat').read_text().split()[0]) / 1e9
    return times


def pending_bytes(hostd, path):
    status = subprocess.run(
        [hostd, 'status', '--slatefile', str(path / 'slatefile.json'), '--state-dir', str(path / 'state'), '--json'],
        stdout=subprocess.PIPE, check=True)
    return json.loads(status.stdout)['inbox']['pendingBytes']


def measure(hostd, level):
    """Microseconds of processor time an event, all and by thread, and events a second."""
    with tempfile.TemporaryDirectory(prefix='modulehost-events-') as folder:
        path = pathlib.Path(folder)
        modules = [
            {'id': 'com.mm.main', 'entry': 'Modules.MainModule', 'main': True},
            {'id': 'com.mm.load', 'command': [sys.executable, os.path.realpath(__file__), 'module']},
        ]
        (path / 'slatefile.json').write_text(json.dumps({'slate': 1, 'app': 'events', 'modules': modules}))
        run = [hostd, 'run', '--slatefile', str(path / 'slatefile.json'), '--state-dir', str(path / 'state'), '--log-level', level]
        # Creates the inbox.
        process, _ = spawn(run, str(path / 'log'))
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        record = '{"event":"message","payload":{"topic":"load","payload":{"number":%d,"text":"hello hello hello"}}}\n'
        with open(max((path / 'state' / 'inbox').glob('0*.ndjson')), 'a') as inbox:
            inbox.writelines(record % number for number in range(EVENTS))
        began = time.monotonic()
        process, _ = spawn(run, str(path / 'log'))
        while pending_bytes(hostd, path):
            time.sleep(0.1)
        took, times = time.monotonic() - began, processor_time(process)
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        return [sum(times.values()) / EVENTS * 1e6] + [times[name] / EVENTS * 1e6 for name in THREADS] + [EVENTS / took]


def main():
    if sys.argv[1:] == ['module']:
        return serve()
    if len(sys.argv) < 2:
        sys.exit('usage: process_events.py HOSTD…')
    print(f'| host | log | µs an event | {", ".join(THREADS)} | events/s |')
    print('|---|---|---:|---:|---:|')
    rows = {}
    for _ in range(ROUNDS):
        for hostd in sys.argv[1:]:
            for level in ('info', 'warning'):
                rows.setdefault((hostd, level), []).append(measure(hostd, level))
    for (hostd, level), figures in rows.items():
        total, *threads, rate = (statistics.median(column) for column in zip(*figures))
        spread = f'{min(row[0] for row in figures):.1f}–{max(row[0] for row in figures):.1f}'
        print(f'| {os.path.basename(hostd)} | {level} | {total:.1f} ({spread}) | {", ".join(f"{each:.1f}" for each in threads)} | {rate:,.0f} |')


if __name__ == '__main__':
    main()
