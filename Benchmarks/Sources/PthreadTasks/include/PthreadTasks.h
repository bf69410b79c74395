#pragma once
#include <stdint.h>

/// Tasks that do nothing, and that each wait for others: the least that running them takes.
///
/// `targets[first[task]]` to `targets[first[task + 1] - 1]` wait for `task`, which itself waits for
/// `waits[task]` tasks.
typedef struct {
    int32_t count;
    const int32_t *first;
    const int32_t *targets;
    const int32_t *waits;
} PthreadTaskGraph;

/// Runs a graph on two threads that share a list of ready tasks under one mutex.
///
/// Returns nanoseconds, with the start and the end of the threads; -1 where no thread or memory is to be had.
int64_t runOnTwoThreads(PthreadTaskGraph graph);
