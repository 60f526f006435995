// What a loop's thread touches, as ranges of addresses: memory that is named, the code and data of shared objects, and
// the heap that others allocate from on this thread. Nothing is thrown: without memory for the list, nothing is locked.
#pragma once
#include "atomics.hpp"
#include "page_locks.hpp"
#include <cstring>
#include <new>
#include <string>
#if defined(__linux__)
#include <elf.h>
#include <link.h>
#include <malloc.h>
#endif

namespace mbros_realtime {

#if defined(__linux__)

// A shared object of this process: what is mapped of it, its name, and the names of those it is linked against.
struct Object {
    Ranges segments;
    std::string name;
    std::vector<std::string> needed;
    bool touched = false;

    bool holds(uintptr_t address) const {
        for (const Range& r : segments)
            if (r.begin <= address && address < r.end) return true;
        return false;
    }
};

inline std::string last_part(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// dl_iterate_phdr's visitor: one more Object for the list.
inline int note_object(struct dl_phdr_info* info, std::size_t, void* list) {
    Object object;
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD) object.segments.push_back(Range{begin, begin + header.p_memsz});
        if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    }
    object.name = last_part(info->dlpi_name);
    if (dynamic) {
        uintptr_t strings = 0;
        for (const ElfW(Dyn)* d = dynamic; d->d_tag != DT_NULL; ++d)
            if (d->d_tag == DT_STRTAB) strings = d->d_un.d_ptr;
        if (strings && strings < info->dlpi_addr) strings += info->dlpi_addr;        // glibc has added it, others have not
        for (const ElfW(Dyn)* d = dynamic; strings && d->d_tag != DT_NULL; ++d) {
            const char* text = reinterpret_cast<const char*>(strings) + d->d_un.d_val;
            if (d->d_tag == DT_SONAME) object.name = text;
            if (d->d_tag == DT_NEEDED) object.needed.push_back(last_part(text));
        }
    }
    static_cast<std::vector<Object>*>(list)->push_back(object);
    return 0;
}

class Footprint {
public:
    // A piece of memory; with 0 bytes an address of code (see mbros_memory in ports.hpp).
    void add(const void* begin, std::size_t bytes) {
        const uintptr_t at = reinterpret_cast<uintptr_t>(begin);
        try {
            if (bytes) ranges_.push_back(Range{at, at + bytes});
            else if (at) code_.push_back(at);
        } catch (const std::bad_alloc&) {
            complete_ = false;
        }
    }
    static void add_to(void* self, const void* begin, std::size_t bytes) { static_cast<Footprint*>(self)->add(begin, bytes); }

    // A piece of memory from malloc.
    void add_block(void* p) {
        if (p) add(p, malloc_usable_size(p));
    }

    // What malloc has of the system now and may give to this thread: [heap] and the arenas; and writable shared memory in
    // /dev/shm, through which middleware speaks. Large pieces that malloc maps one by one are not among it.
    void add_heap() {
        warm_arena();
        FILE* maps = std::fopen("/proc/self/maps", "r");
        if (!maps) return;
        char line[4400];
        Range arena = {0, 0};
        while (std::fgets(line, sizeof line, maps)) {
            unsigned long begin = 0, end = 0;
            char rights[5] = "", path[4200] = "";
            if (std::sscanf(line, "%lx-%lx %4s %*s %*s %*s %4199s", &begin, &end, rights, path) < 3) continue;
            if (arena.end == begin && !std::strcmp(rights, "---p") && end % kArena == 0) add_pages(arena.begin, arena.end);
            arena = Range{0, 0};
            if (std::strncmp(rights, "rw", 2)) continue;
            if (!std::strcmp(path, "[heap]") || !std::strncmp(path, "/dev/shm/", 9)) add_pages(begin, end);
            else if (!*path && begin % kArena == 0) arena = Range{begin, end};
        }
        std::fclose(maps);
    }

    void clear() {
        ranges_.clear();
        code_.clear();
        complete_ = true;
    }
    bool complete() const { return complete_; }

    // Everything that was added, with the objects of the code and what they are linked against, as whole pages.
    Ranges pages() const {
        std::vector<Object> objects;
        dl_iterate_phdr(note_object, &objects);
        Ranges all = ranges_;
        std::vector<const Object*> found;
        for (Object& o : objects)
            for (uintptr_t address : code_)
                if (!o.touched && o.holds(address)) take(&o, &found);
        for (std::size_t i = 0; i < found.size(); ++i)
            for (const std::string& name : found[i]->needed)
                for (Object& o : objects)
                    if (!o.touched && o.name == name) take(&o, &found);
        for (const Object* o : found) all.insert(all.end(), o->segments.begin(), o->segments.end());
        return whole_pages(all);
    }

private:
    // glibc's arenas beside [heap]: each begins at a multiple of this and reserves as much; what is used is readable.
    static const unsigned long kArena = 64ul << 20;

    void add_pages(uintptr_t begin, uintptr_t end) { add(reinterpret_cast<const void*>(begin), end - begin); }
    static void take(Object* object, std::vector<const Object*>* found) {
        object->touched = true;
        found->push_back(object);
    }
    // A thread gets its arena with its first allocation.
    static void warm_arena() {
        void* volatile p = std::malloc(64u << 10);
        std::free(p);
    }

    Ranges ranges_;
    std::vector<uintptr_t> code_;
    bool complete_ = true;
};

#else

// Elsewhere nothing is known of the process, and nothing locked.
class Footprint {
public:
    void add(const void*, std::size_t) {}
    static void add_to(void*, const void*, std::size_t) {}
    void add_block(void*) {}
    void add_heap() {}
    void clear() {}
    bool complete() const { return true; }
    Ranges pages() const { return Ranges(); }
};

#endif

// Lock what was found; 0 or an errno value. Memory that another thread gave back meanwhile is not there to be locked: the
// caller looks again.
inline int lock_footprint(Footprint* footprint, Ranges** locked, int64_t* bytes) try {
    if (!footprint->complete()) return ENOMEM;
    Ranges* pages = new Ranges(footprint->pages());
    store(bytes, total_bytes(*pages));
    const int error = pages->empty() ? ENOTSUP : PageLocks::of_this_process().lock(*pages);
    if (error) delete pages;
    else *locked = pages;
    return error;
} catch (const std::bad_alloc&) {
    return ENOMEM;
}

inline void unlock_footprint(Ranges** locked) {
    if (!*locked) return;
    PageLocks::of_this_process().unlock(**locked);
    delete *locked;
    *locked = nullptr;
}

}
