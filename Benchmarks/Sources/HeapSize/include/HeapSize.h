#include <stddef.h>

/// The bytes that the process has of malloc and has not given back, in all arenas.
size_t heap_size(void);
