#pragma once

#include <stddef.h>
#include <stdint.h>

/// A trie of patterns by bytes: the limit that the host's table is measured against.
///
/// A pattern is a path of literals and placeholders, `user/:name/posts`. A segment that begins with a colon is a placeholder.
struct url_trie;

/// A text in the block of its match.
struct url_text {
    const char *bytes;
    size_t count;
};

/// The most placeholders of a pattern, and the most query items of a URL.
enum { url_values_limit = 8, url_items_limit = 8 };

/// The answer for a URL. Its texts are copies, decoded, in one block.
struct url_match {
    int32_t route;
    int32_t value_count;
    int32_t item_count;
    /// The values of the placeholders, in the order of the pattern.
    struct url_text values[url_values_limit];
    /// The name and the value of each query item.
    struct url_text items[2 * url_items_limit];
    char *block;
};

struct url_trie *url_trie_create(const char *scheme);
/// Adds a pattern; before `url_trie_freeze`.
void url_trie_add(struct url_trie *trie, const char *pattern, int32_t route);
/// Lays the nodes out for searching.
void url_trie_freeze(struct url_trie *trie);
/// Finds the route of a URL. Returns 0 where there is one; its block must be freed with `url_match_free`.
int url_trie_match(
    const struct url_trie *trie, const char *url, size_t count, struct url_match *match);
void url_match_free(struct url_match *match);
void url_trie_destroy(struct url_trie *trie);
