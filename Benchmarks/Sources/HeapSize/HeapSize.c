// In C, since the Glibc module of Swift leaves out malloc.h.
#include "HeapSize.h"

#include <malloc.h>

size_t heap_size(void) {
    return mallinfo2().uordblks;
}
