// Loaded into every process under the address sanitizer: reports of undefined behaviour go to $MBROS_REPORT.PID as well.
//
// gcc's library for undefined behaviour reads log_path, but hands it to a function that the address sanitizer has too and that is
// found there first; so its reports would go to the standard error, which tests of child processes do not always read.
#include <cstdlib>
#include <dlfcn.h>

__attribute__((constructor)) static void hear() {
    void *library = dlopen("libubsan.so.1", RTLD_NOW | RTLD_GLOBAL);
    const char *path = std::getenv("MBROS_REPORT");
    if (library == nullptr || path == nullptr)
        return;
    if (auto set = reinterpret_cast<void (*)(const char *)>(dlsym(library, "__sanitizer_set_report_path")))
        set(path);
}
