"""Measures release builds of hostd: clean, and after one line was added to each of ten files; called by run.

The sources are copied, so that nothing changes where people work. It takes as long as it says: about an hour.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
CLEAN_ROUNDS = 3
# From each floor, and from the folders that change most.
FILES = [
    'AppService/StartupQueue.swift',
    'ModuleHost/CommandLine/Commands/CheckCommand.swift',
    'ModuleHost/Daemon/HostDaemon.swift',
    'ModuleHost/Events/EventDefinition.swift',
    'ModuleHost/Inbox/InboxWriter.swift',
    'ModuleHost/Lane/Lane.swift',
    'ModuleHost/Model/LifecycleEvent.swift',
    'ModuleHost/Routing/RouteTable.swift',
    'ModuleHost/Slatefile/SlatefileReader.swift',
    'Modules/PushModule.swift',
]


def copy(folder):
    """Copies what git knows of the repository."""
    root = os.path.dirname(FOLDER)
    names = subprocess.run(['git', '-C', root, 'ls-files', '-z'], capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split('\0')):
        # A file that was removed, and the removal not committed.
        if not os.path.exists(os.path.join(root, name)):
            continue
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(root, name), target)


def build(folder):
    """Builds hostd. Returns the seconds that took."""
    began = time.monotonic()
    done = subprocess.run(
        ['swift', 'build', '-c', 'release', '--product', 'hostd', '--package-path', folder], stdout=sys.stderr)
    if done.returncode != 0:
        sys.exit('hostd cannot be built')
    return time.monotonic() - began


def add_line(path, number):
    """Adds a function of one line that no other has, so that the module is another one."""
    with open(path, 'a', encoding='utf-8') as file:
        file.write(f'func addedLine{number}() -> Int {{ {number} }}\n')


def main():
    print('| `swift build -c release --product hostd` | s |\n|---|---:|', flush=True)
    with tempfile.TemporaryDirectory(dir=os.path.join(FOLDER, '.build')) as folder:
        copy(folder)
        clean, changed = [], []
        for _ in range(CLEAN_ROUNDS):
            shutil.rmtree(os.path.join(folder, '.build'), ignore_errors=True)
            clean.append(build(folder))
        print(f'| clean | {statistics.median(clean):.1f} |', flush=True)
        for number, name in enumerate(FILES):
            add_line(os.path.join(folder, 'Sources', name), number)
            changed.append(build(folder))
            print(f'| after one line in {name} | {changed[-1]:.1f} |', flush=True)
        print(f'| after one line, median | {statistics.median(changed):.1f} |')


if __name__ == '__main__':
    main()
