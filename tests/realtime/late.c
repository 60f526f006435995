/* Loaded before the C library: whoever names another thread is held up first, as by a busy computer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

int pthread_setname_np(pthread_t thread, const char* name) {
    int (*given)(pthread_t, const char*) = (int (*)(pthread_t, const char*))dlsym(RTLD_NEXT, "pthread_setname_np");
    if (!pthread_equal(thread, pthread_self())) usleep(50000);
    return given(thread, name);
}
