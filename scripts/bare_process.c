// The limits of a process, beside which figures.sh measures hostd: one that prints `ready`, waits for TERM, and ends.
//
//     bare_process          does nothing else
//     bare_process DIR      does what an idle host does with files: claims DIR, creates a socket, watches a folder and
//                           memory pressure; at TERM writes its metrics by rename, synchronizes its cursor and removes the
//                           socket
//     bare_process DIR -    the same without the two watches
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void require(int isDone, const char *what) {
    if (isDone) return;
    perror(what);
    exit(1);
}

static void watch(void) {
    int queue = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    require(queue >= 0, "inotify_init1");
    require(inotify_add_watch(queue, ".", IN_CREATE | IN_MODIFY) >= 0, "inotify_add_watch");
    // A kernel without it is measured without it; hostd does not watch there either.
    static const char trigger[] = "some 150000 2000000";
    int pressure = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (pressure >= 0) require(write(pressure, trigger, sizeof trigger) > 0, "/proc/pressure/memory");
}

static void writeMetrics(void) {
    static const char metrics[2304];
    int file = open("metrics.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    require(file >= 0 && write(file, metrics, sizeof metrics) == sizeof metrics, "metrics.tmp");
    require(close(file) == 0 && rename("metrics.tmp", "metrics") == 0, "metrics");
}

static void writeCursor(void) {
    static const char cursor[40];
    int file = open("cursor.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(file >= 0 && write(file, cursor, sizeof cursor) == sizeof cursor, "cursor.tmp");
    require(fdatasync(file) == 0 && close(file) == 0 && rename("cursor.tmp", "cursor") == 0, "cursor");
}

int main(int count, char **words) {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    int journal = -1;
    if (count > 1) {
        require(chdir(words[1]) == 0, words[1]);
        int claim = open("pid", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        require(claim >= 0 && flock(claim, LOCK_EX | LOCK_NB) == 0, "pid");
        journal = open("journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        require(journal >= 0, "journal");
        struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control.sock"};
        int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        require(bind(server, (struct sockaddr *)&address, sizeof address) == 0, "bind");
        require(listen(server, 64) == 0, "listen");
        if (count == 2) watch();
    }
    require(write(STDOUT_FILENO, "ready \n", 7) == 7, "stdout");
    siginfo_t signal;
    while (sigwaitinfo(&term, &signal) < 0) continue;
    if (count > 1) {
        static const char line[120];
        for (int event = 0; event < 3; event++) require(write(journal, line, sizeof line) > 0, "journal");
        writeMetrics();
        writeCursor();
        require(unlink("control.sock") == 0, "control.sock");
    }
    return 0;
}
