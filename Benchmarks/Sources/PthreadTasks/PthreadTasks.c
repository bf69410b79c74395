#include "PthreadTasks.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    PthreadTaskGraph graph;
    pthread_mutex_t mutex;
    pthread_cond_t isReady;
    int32_t *waits, *ready;
    int32_t head, tail, ended;
} Queue;

static int64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void noWork(void) {}
// Read anew for each task, so that the call is not optimized away.
static void (*volatile work)(void) = noWork;

static void *run(void *argument) {
    Queue *queue = argument;
    pthread_mutex_lock(&queue->mutex);
    while (queue->ended < queue->graph.count) {
        if (queue->head == queue->tail) {
            pthread_cond_wait(&queue->isReady, &queue->mutex);
            continue;
        }
        int32_t task = queue->ready[queue->head++];
        pthread_mutex_unlock(&queue->mutex);
        work();
        pthread_mutex_lock(&queue->mutex);
        for (int32_t edge = queue->graph.first[task]; edge < queue->graph.first[task + 1]; edge++) {
            int32_t target = queue->graph.targets[edge];
            if (--queue->waits[target] > 0) continue;
            queue->ready[queue->tail++] = target;
            pthread_cond_signal(&queue->isReady);
        }
        queue->ended++;
    }
    pthread_cond_broadcast(&queue->isReady);
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

int64_t runOnTwoThreads(PthreadTaskGraph graph) {
    size_t size = (size_t)graph.count * sizeof(int32_t);
    Queue queue = {
        .graph = graph, .mutex = PTHREAD_MUTEX_INITIALIZER, .isReady = PTHREAD_COND_INITIALIZER,
        .waits = malloc(size), .ready = malloc(size),
    };
    int64_t took = -1;
    if (queue.waits && queue.ready) {
        memcpy(queue.waits, graph.waits, size);
        int64_t began = nanoseconds();
        for (int32_t task = 0; task < graph.count; task++)
            if (queue.waits[task] == 0) queue.ready[queue.tail++] = task;
        pthread_t threads[2];
        int created = 0;
        while (created < 2 && pthread_create(&threads[created], NULL, run, &queue) == 0) created++;
        for (int thread = 0; thread < created; thread++) pthread_join(threads[thread], NULL);
        if (created == 2) took = nanoseconds() - began;
    }
    free(queue.waits);
    free(queue.ready);
    return took;
}
