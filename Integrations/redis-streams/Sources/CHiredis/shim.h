// What hiredis 0.14 leaves open: a deadline for each connection, bounds for each reply, and writing
// to a closed connection without SIGPIPE.
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static inline struct timeval streams_timeval(int milliseconds) {
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
    return time;
}

// Connects to a socket of this machine (port 0) or by TCP; the deadline is that of each later read and write, too.
// The result is null without memory; its `err` says whether it is connected.
static inline redisContext *streams_connect(const char *where, int port, int milliseconds) {
    struct timeval time = streams_timeval(milliseconds);
    redisContext *context =
        port ? redisConnectWithTimeout(where, port, time) : redisConnectUnixWithTimeout(where, time);
    if (context && !context->err) redisSetTimeout(context, time);
    return context;
}

// What is left of the bounds of one reply. A header of eight bytes may ask for an array of any length.
struct streams_bounds {
    redisReplyObjectFunctions functions;
    void *(*create_array)(const redisReadTask *, int);
    long long elements;
};

static inline void *streams_create_array(const redisReadTask *task, int elements) {
    struct streams_bounds *bounds = task->privdata;
    if (elements > bounds->elements) {
        bounds->elements = -1;
        return NULL;
    }
    bounds->elements -= elements;
    return bounds->create_array(task, elements);
}

// Bounds the arrays of a connection that has received nothing. Null without memory; freed after the connection.
static inline struct streams_bounds *streams_bound(redisContext *context) {
    struct streams_bounds *bounds = malloc(sizeof *bounds);
    if (!bounds) return NULL;
    bounds->functions = *context->reader->fn;
    bounds->create_array = bounds->functions.createArray;
    bounds->functions.createArray = streams_create_array;
    bounds->elements = 0;
    context->reader->fn = &bounds->functions;
    context->reader->privdata = bounds;
    return bounds;
}

// Whether an errno is that of a deadline.
static inline int streams_is_timeout(int code) { return code == EAGAIN || code == EWOULDBLOCK; }

// Sends all bytes; 0, or the errno.
static inline int streams_send(redisContext *context, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count) {
        ssize_t sent = send(context->fd, next, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno;
        next += sent;
        count -= (size_t)sent;
    }
    return 0;
}

// Receives one reply of at most `limit` bytes. REDIS_OK; REDIS_ERR, see `err` of the context; or 1, the reply is larger.
static inline int streams_receive(
    redisContext *context, struct streams_bounds *bounds, size_t limit, long long elements, redisReply **reply) {
    size_t received = 0;
    bounds->elements = elements;
    for (;;) {
        void *read = NULL;
        if (redisGetReplyFromReader(context, &read) != REDIS_OK) return bounds->elements < 0 ? 1 : REDIS_ERR;
        if (read) {
            *reply = read;
            return REDIS_OK;
        }
        if (received > limit) return 1;
        size_t before = context->reader->len;
        if (redisBufferRead(context) != REDIS_OK) return REDIS_ERR;
        received += context->reader->len - before;
    }
}
