// Where samples of hardware go, on the thread that steps and between two steps. Capsule name "mbros_core.feed".
#pragma once

extern "C" {

typedef struct mbros_feed {
    void* self;
    // Of source k, as old as that, s; NaN: not measured.
    void (*feed)(void* self, int k, double age, double position, double velocity, double effort);
    int sources;
} mbros_feed;

}
