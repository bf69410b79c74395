#!/usr/bin/env bash
# Measures hostd as a whole process, with the default slatefile: exec to READY and TERM to exit, each beside a bare
# process in C (bare_process.c), memory and wake-ups.
#
#     scripts/figures.sh           builds both ways of linking, 40 starts each, 10 s idle
#     scripts/figures.sh --quick   8 starts each, 3 s idle
#
# Prints a table of medians. Exits 1 where an idle host was woken; all else is held against the goals of
# Benchmarks/limits.py, by Benchmarks/run.
set -euo pipefail
cd "$(dirname "$0")/.."

starts=40 idle=10 settle=20
case "${1-}" in
    "") ;;
    --quick) starts=8 idle=3 settle=10 ;;
    *)
        echo "usage: scripts/figures.sh [--quick]" >&2
        exit 64
        ;;
esac

swift build -c release --product hostd >&2
# A scratch path of its own, or each way of linking would undo the other's.
swift build -c release --product hostd --scratch-path .build/static \
    -Xswiftc -static-executable >&2

bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
cc -O2 -o "$bare/dynamic" scripts/bare_process.c
cc -O2 -static -o "$bare/static" scripts/bare_process.c

python3 scripts/whole_process.py "$starts" "$idle" "$settle" \
    "dynamic:$(swift build -c release --show-bin-path)/hostd:$bare/dynamic" \
    "-static-executable:$(swift build -c release --scratch-path .build/static --show-bin-path)/hostd:$bare/static"
