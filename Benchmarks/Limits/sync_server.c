// The limit of durable events from many clients: a server on one thread that receives lines, appends those of one turn to a
// file, syncs the file once, and answers each line.
//
//     sync_server SOCKET FILE    until TERM
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { mostClients = 256, mostBytes = 1 << 16 };

static void require(int isDone, const char *what) {
    if (isDone) return;
    perror(what);
    exit(1);
}

static void writeAll(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        require(written > 0, "write");
        bytes += written;
        count -= written;
    }
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "usage: sync_server SOCKET FILE\n"), 64;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    require(strlen(words[1]) < sizeof address.sun_path, "the path of the socket");
    strcpy(address.sun_path, words[1]);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(bind(server, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    require(listen(server, mostClients) == 0, "listen");
    int file = open(words[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    require(file >= 0, words[2]);
    writeAll(STDOUT_FILENO, "ready \n", 7);

    static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"accepted\":true,\"position\":\"1:1000\"}}\n";
    static struct pollfd polled[1 + mostClients];
    static char turn[mostClients * mostBytes];
    static int lines[1 + mostClients];
    int open = 1;
    polled[0] = (struct pollfd){.fd = server, .events = POLLIN};
    while (1) {
        if (poll(polled, open, -1) < 0) {
            require(errno == EINTR, "poll");
            continue;
        }
        size_t size = 0;
        for (int index = 1; index < open; index++) {
            lines[index] = 0;
            if (polled[index].revents == 0) continue;
            ssize_t received = read(polled[index].fd, turn + size, mostBytes);
            if (received <= 0) {
                close(polled[index].fd);
                polled[index] = (struct pollfd){.fd = -1};
                continue;
            }
            for (ssize_t at = 0; at < received; at++) lines[index] += turn[size + at] == '\n';
            size += received;
        }
        if (size > 0) {
            writeAll(file, turn, size);
            require(fdatasync(file) == 0, "fdatasync");
            for (int index = 1; index < open; index++)
                for (int line = 0; line < lines[index]; line++) writeAll(polled[index].fd, answer, sizeof answer - 1);
        }
        if (polled[0].revents != 0) {
            int client = accept4(server, NULL, NULL, SOCK_CLOEXEC);
            require(client >= 0 && open <= mostClients, "accept");
            polled[open++] = (struct pollfd){.fd = client, .events = POLLIN};
        }
    }
}
