/* Preloaded into a test's process: counts the calls of malloc and relatives, per thread. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static __thread int64_t calls __attribute__((tls_model("initial-exec")));

int64_t thread_allocations(void) { return calls; }
void* malloc(size_t n) { calls++; return __libc_malloc(n); }
void* calloc(size_t n, size_t m) { calls++; return __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { calls++; return __libc_realloc(p, n); }
void* memalign(size_t a, size_t n) { calls++; return __libc_memalign(a, n); }
void* aligned_alloc(size_t a, size_t n) { calls++; return __libc_memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) { calls++; *p = __libc_memalign(a, n); return *p ? 0 : 12; }
