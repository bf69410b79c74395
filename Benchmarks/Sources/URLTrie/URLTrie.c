#include "URLTrie.h"

#include <stdlib.h>
#include <string.h>

// A node of the tree while patterns are added: its children are a list.
struct draft {
    int32_t child, sibling, placeholder, route;
    uint8_t byte;
};

// A node as it is searched: the children of the bytes from `low` on, beginning at `children`.
struct node {
    uint32_t children;
    int32_t placeholder, route;
    uint8_t low, count;
};

struct url_trie {
    const char *scheme;
    size_t scheme_count;
    struct draft *drafts;
    size_t count, capacity;
    struct node *nodes;
    int32_t *children;
};

static int32_t make(struct url_trie *trie, uint8_t byte) {
    if (trie->count == trie->capacity) {
        trie->capacity = trie->capacity ? 2 * trie->capacity : 64;
        trie->drafts = realloc(trie->drafts, trie->capacity * sizeof *trie->drafts);
    }
    trie->drafts[trie->count] = (struct draft){-1, -1, -1, -1, byte};
    return (int32_t)trie->count++;
}

struct url_trie *url_trie_create(const char *scheme) {
    struct url_trie *trie = calloc(1, sizeof *trie);
    trie->scheme = scheme;
    trie->scheme_count = strlen(scheme);
    make(trie, 0);
    return trie;
}

void url_trie_add(struct url_trie *trie, const char *pattern, int32_t route) {
    int32_t node = 0;
    for (const char *byte = pattern; *byte;) {
        int32_t next;
        if (*byte == ':' && (byte == pattern || byte[-1] == '/')) {
            next = trie->drafts[node].placeholder;
            if (next < 0) {
                next = make(trie, 0);
                trie->drafts[node].placeholder = next;
            }
            while (*byte && *byte != '/') byte++;
        } else {
            next = trie->drafts[node].child;
            while (next >= 0 && trie->drafts[next].byte != (uint8_t)*byte)
                next = trie->drafts[next].sibling;
            if (next < 0) {
                next = make(trie, (uint8_t)*byte);
                trie->drafts[next].sibling = trie->drafts[node].child;
                trie->drafts[node].child = next;
            }
            byte++;
        }
        node = next;
    }
    trie->drafts[node].route = route;
}

void url_trie_freeze(struct url_trie *trie) {
    trie->nodes = calloc(trie->count, sizeof *trie->nodes);
    size_t total = 0;
    for (size_t index = 0; index < trie->count; index++) {
        struct draft *draft = &trie->drafts[index];
        int low = 256, high = -1;
        for (int32_t each = draft->child; each >= 0; each = trie->drafts[each].sibling) {
            if (trie->drafts[each].byte < low) low = trie->drafts[each].byte;
            if (trie->drafts[each].byte > high) high = trie->drafts[each].byte;
        }
        int count = high < 0 ? 0 : high - low + 1;
        trie->nodes[index] = (struct node){
            (uint32_t)total, draft->placeholder, draft->route, (uint8_t)low, (uint8_t)count};
        total += (size_t)count;
    }
    trie->children = malloc((total + 1) * sizeof *trie->children);
    for (size_t index = 0; index < total; index++) trie->children[index] = -1;
    for (size_t index = 0; index < trie->count; index++) {
        struct node *node = &trie->nodes[index];
        for (int32_t each = trie->drafts[index].child; each >= 0;
             each = trie->drafts[each].sibling)
            trie->children[node->children + trie->drafts[each].byte - node->low] = each;
    }
    free(trie->drafts);
    trie->drafts = NULL;
}

void url_trie_destroy(struct url_trie *trie) {
    free(trie->drafts);
    free(trie->nodes);
    free(trie->children);
    free(trie);
}

// A part of a URL before it is copied.
struct span {
    const char *start, *end;
};

struct search {
    const struct url_trie *trie;
    const char *end;
    struct span values[url_values_limit];
    int32_t value_count;
    const char *path_end;
};

static inline int is_end(char byte) { return byte == '/' || byte == '?' || byte == '#'; }

static inline int digit(char byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static int32_t find(struct search *search, int32_t index, const char *at);

// Goes on behind a segment: at the slash before the next one, or at the end of the path.
static inline int32_t go_on(struct search *search, int32_t index, const char *at) {
    const struct node *node = &search->trie->nodes[index];
    if (at < search->end && *at == '/') {
        while (at < search->end && *at == '/') at++;
        if (at < search->end && !is_end(*at)) {
            uint8_t place = (uint8_t)('/' - node->low);
            if (place >= node->count) return -1;
            int32_t next = search->trie->children[node->children + place];
            return next < 0 ? -1 : find(search, next, at);
        }
    }
    search->path_end = at;
    return node->route;
}

// Finds the route of the path from a segment on: a literal first, then a placeholder.
static int32_t find(struct search *search, int32_t index, const char *start) {
    const struct url_trie *trie = search->trie;
    const char *at = start;
    int32_t next = index;
    while (at < search->end && !is_end(*at)) {
        uint8_t byte = (uint8_t)*at++;
        if (byte == '%' && search->end - at >= 2) {
            byte = (uint8_t)(digit(at[0]) << 4 | digit(at[1]));
            at += 2;
        }
        const struct node *node = &trie->nodes[next];
        uint8_t place = (uint8_t)(byte - node->low);
        next = place < node->count ? trie->children[node->children + place] : -1;
        if (next < 0) break;
    }
    if (next >= 0) {
        int32_t route = go_on(search, next, at);
        if (route >= 0) return route;
    }
    int32_t placeholder = trie->nodes[index].placeholder;
    if (placeholder < 0 || search->value_count == url_values_limit) return -1;
    at = start;
    while (at < search->end && !is_end(*at)) at++;
    search->values[search->value_count++] = (struct span){start, at};
    int32_t route = go_on(search, placeholder, at);
    if (route < 0) search->value_count--;
    return route;
}

// Copies a part, decoded, to the end of the block.
static inline struct url_text copy(struct span span, char **block) {
    char *start = *block, *out = start;
    for (const char *at = span.start; at < span.end;) {
        if (*at == '%' && span.end - at >= 3) {
            *out++ = (char)(digit(at[1]) << 4 | digit(at[2]));
            at += 3;
        } else {
            *out++ = *at++;
        }
    }
    *block = out;
    return (struct url_text){start, (size_t)(out - start)};
}

int url_trie_match(
    const struct url_trie *trie, const char *url, size_t count, struct url_match *match) {
    const char *end = url + count;
    if (count < trie->scheme_count + 3) return 1;
    for (size_t index = 0; index < trie->scheme_count; index++)
        if ((url[index] | 0x20) != trie->scheme[index]) return 1;
    const char *at = url + trie->scheme_count;
    if (at[0] != ':' || at[1] != '/' || at[2] != '/') return 1;
    struct search search = {.trie = trie, .end = end};
    match->route = find(&search, 0, at + 3);
    if (match->route < 0) return 1;

    char *block = malloc(count);
    match->block = block;
    match->value_count = search.value_count;
    for (int32_t index = 0; index < search.value_count; index++)
        match->values[index] = copy(search.values[index], &block);
    match->item_count = 0;
    at = search.path_end;
    if (at == end || *at != '?') return 0;
    while (at < end && *at != '#' && match->item_count < url_items_limit) {
        const char *start = ++at;
        while (at < end && *at != '=' && *at != '&' && *at != '#') at++;
        struct span name = {start, at}, value = {at, at};
        if (at < end && *at == '=') {
            value.start = ++at;
            while (at < end && *at != '&' && *at != '#') at++;
            value.end = at;
        }
        match->items[2 * match->item_count] = copy(name, &block);
        match->items[2 * match->item_count + 1] = copy(value, &block);
        match->item_count++;
    }
    return 0;
}

void url_match_free(struct url_match *match) { free(match->block); }
