"""Measures `hostd check` of 10 000 modules beside a C program that splits the same file into tokens; called by run.

Arguments: hostd, PlainHost, token_scan.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 11
COUNT = 10_000


def write_slatefile(path, main, module):
    """Writes a slatefile: one module that supplies the root, and others that a function returns by number."""
    modules = [{'id': 'bench.main', 'entry': main, 'main': True}]
    modules += [{'id': f'bench.m{number}', **module(number)} for number in range(1, COUNT)]
    with open(path, 'w') as file:
        json.dump({'slate': 1, 'app': 'bench', 'schemes': ['bench'], 'modules': modules}, file, indent=1)


def run(*arguments):
    """Runs a program. Returns the milliseconds from exec to its end."""
    quiet = os.open('/dev/null', os.O_WRONLY)
    began = time.monotonic_ns()
    process = os.posix_spawn(
        arguments[0], arguments, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1)])
    _, status = os.waitpid(process, 0)
    took = (time.monotonic_ns() - began) / 1e6
    os.close(quiet)
    if status != 0:
        sys.exit(f'{" ".join(arguments)} ended with {os.waitstatus_to_exitcode(status)} instead of 0')
    return took


def main(hostd, plain, scan):
    kinds = [
        ('no routes', hostd, 'Modules.MainModule', lambda _: {'entry': 'Modules.PushModule'}),
        ('a route of each class', plain, 'PlainModules.IdleModule', lambda _: {'entry': 'PlainModules.RoutedOneModule'}),
        ('a route that each `provides`', hostd, 'Modules.MainModule', lambda number: {
            'command': ['/bin/cat'], 'launch': 'lazy', 'provides': [f'item{number}/:id']}),
    ]
    print(f'| medians of {ROUNDS} | check, ms | C token scan, ms | tokens |')
    print('|---|---:|---:|---:|')
    with tempfile.TemporaryDirectory() as folder:
        slatefile = os.path.join(folder, 'slatefile.json')
        for title, host, entry, module in kinds:
            write_slatefile(slatefile, entry, module)
            ways = {'check': (host, 'check', slatefile), 'scan': (scan, slatefile)}
            times = {way: [] for way in ways}
            for number in range(ROUNDS):
                # Each is first in every second round.
                for way in list(ways)[:: 1 if number % 2 == 0 else -1]:
                    times[way].append(run(*ways[way]))
            tokens = subprocess.run([scan, slatefile], capture_output=True, text=True).stdout.split()[0]
            check, least = (statistics.median(each) for each in times.values())
            print(f'| {title} | {check:.2f} | {least:.2f} | {tokens} |')


if __name__ == '__main__':
    main(*sys.argv[1:])
