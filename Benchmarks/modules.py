"""Measures hosts of many modules, up and down, beside a ServiceGroup of as many services; called by run.

Arguments: PlainHost, ServiceGroupPeer, and the counts: 1000, 10000 and 50000 where there are none.
"""
import itertools
import json
import math
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../scripts'))
from whole_process import spawn, stop  # noqa: E402

ROUNDS = 5


def write_slatefile(path, entry, count):
    """Writes a slatefile of so many modules of one class."""
    modules = [{'id': f'bench.m{number}', 'entry': entry} for number in range(count)]
    modules[0]['main'] = True
    with open(path, 'w') as file:
        json.dump({'slate': 1, 'app': 'bench', 'schemes': ['bench'], 'modules': modules}, file, indent=1)


def up_and_down(arguments, log):
    """Returns the milliseconds from exec to READY, and from TERM to the end."""
    process, up = spawn(arguments, log)
    return up, stop(process)


def main(host, peer, *counts):
    counts = [int(count) for count in counts] or [1000, 10_000, 50_000]
    ways = {'ours, idle modules': 'IdleModule', 'ours, modules of three protocols': 'ReceivingModule',
            'services of a ServiceGroup': None}
    times = {way: {count: [] for count in counts} for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            for number in range(ROUNDS):
                # In turn, so that what else the machine does falls on all alike, and in the other order each second time.
                for way in list(ways)[:: 1 if number % 2 == 0 else -1]:
                    entry = ways[way]
                    arguments = [peer, str(count)]
                    if entry:
                        slatefile = os.path.join(folder, f'{entry}-{count}.json')
                        if not os.path.exists(slatefile):
                            write_slatefile(slatefile, f'PlainModules.{entry}', count)
                        state = os.path.join(folder, 'state')
                        arguments = [host, 'run', '--slatefile', slatefile, '--state-dir', state, '--log-level', 'error']
                    times[way][count].append(up_and_down(arguments, os.path.join(folder, 'log')))
    head = ' | '.join(str(count) for count in counts)
    print(f'| exec to READY and TERM to the end, ms, medians of {ROUNDS} | {head} | exponent |')
    print('|---|' + '---:|' * (len(counts) + 1))
    for title, part in [('', sum), (': exec to READY', lambda both: both[0]), (': TERM to the end', lambda both: both[1])]:
        for way in ways:
            medians = [statistics.median(part(both) for both in times[way][count]) for count in counts]
            # The largest: a cost may grow faster than its work anywhere on the way.
            exponents = [
                math.log(after / before) / math.log(more / fewer)
                for (fewer, before), (more, after) in itertools.pairwise(zip(counts, medians))]
            exponent = f'{max(exponents):.2f}' if exponents else ''
            print(f'| {way}{title} | ' + ' | '.join(f'{median:.1f}' for median in medians) + f' | {exponent} |')


if __name__ == '__main__':
    main(*sys.argv[1:])
