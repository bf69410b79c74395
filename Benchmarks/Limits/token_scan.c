// The limit of `hostd check`: reads a file, splits all of its JSON into tokens, and prints how many there are.
//
//     token_scan FILE    ends with 1 where a token is not valid; does not check how tokens follow each other
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "token_scan: %s\n", what);
    exit(1);
}

// Returns the end of a string whose text begins at `at`.
static const char *endOfString(const char *at, const char *end) {
    for (; at < end; at++) {
        if (*at == '"') return at + 1;
        if (*at == '\\') at++;
        else if ((unsigned char)*at < 0x20) break;
    }
    fail("a string does not end");
    return end;
}

static const char *endOfNumber(const char *at, const char *end) {
    const char *start = at;
    while (at < end && (strchr("+-.eE", *at) || (*at >= '0' && *at <= '9'))) at++;
    if (at == start) fail("a byte that begins no token");
    return at;
}

static const char *endOfWord(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(end - at) < length || memcmp(at, word, length) != 0) fail("an unknown word");
    return at + length;
}

int main(int count, char **words) {
    if (count != 2) fail("usage: token_scan FILE");
    int file = open(words[1], O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail("no such file");
    char *bytes = malloc(status.st_size + 1);
    if (!bytes || read(file, bytes, status.st_size) != status.st_size) fail("the file cannot be read");
    const char *at = bytes, *end = bytes + status.st_size;
    long tokens = 0;
    while (at < end) {
        switch (*at) {
        case ' ': case '\n': case '\r': case '\t': at++; continue;
        case '{': case '}': case '[': case ']': case ':': case ',': at++; break;
        case '"': at = endOfString(at + 1, end); break;
        case 't': at = endOfWord(at, end, "true"); break;
        case 'f': at = endOfWord(at, end, "false"); break;
        case 'n': at = endOfWord(at, end, "null"); break;
        default: at = endOfNumber(at, end);
        }
        tokens++;
    }
    printf("%ld tokens\n", tokens);
    return 0;
}
