// For plants that bring no word saying who works on their memory: one for each, shared by the loops that know the plant.
#pragma once
#include <pthread.h>
#include <cstdint>
#include <map>

namespace mbros_realtime {

class Words {
public:
    // The word of the plant at that address, until drop_word().
    static int64_t* word_of(void* plant) { return change(plant, 1); }
    static void drop_word(void* plant) { change(plant, -1); }

private:
    struct Word {
        int64_t value = 0, users = 0;
    };
    static int64_t* change(void* plant, int by) {
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static std::map<void*, Word>* words = new std::map<void*, Word>;
        pthread_mutex_lock(&lock);
        Word* word = &(*words)[plant];
        word->users += by;
        int64_t* value = &word->value;
        if (word->users == 0) {
            words->erase(plant);
            value = nullptr;
        }
        pthread_mutex_unlock(&lock);
        return value;
    }
};

}
