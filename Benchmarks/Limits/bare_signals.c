// The limit of signals: one thread in `sigwaitinfo`, which notes when it has received each, until TERM; then prints the times.
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { most = 100000 };

int main(void) {
    static long stamps[most];
    int count = 0, sample = SIGRTMIN + 1;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, sample);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    puts("ready");
    fflush(stdout);
    while (count < most) {
        siginfo_t info;
        int signal = sigwaitinfo(&set, &info);
        if (signal == SIGTERM) break;
        if (signal != sample) continue;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        stamps[count++] = now.tv_sec * 1000000000L + now.tv_nsec;
    }
    for (int index = 0; index < count; index++) printf("%ld\n", stamps[index]);
    return 0;
}
