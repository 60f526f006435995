// The part of rcl's C interface that the data plane calls, as its binary layout (stable since ROS 2 Foxy), so that no
// ROS header is needed at build time. The functions are looked up in the librcl.so that rclpy has already loaded:
// whichever ROS 2 is running, it is its own code that is called.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

namespace mbros_rcl {

struct Allocator {                       // rcutils_allocator_t
    void* (*allocate)(size_t, void*);
    void (*deallocate)(void*, void*);
    void* (*reallocate)(void*, size_t, void*);
    void* (*zero_allocate)(size_t, size_t, void*);
    void* state;
};

struct Bytes {                           // rcl_serialized_message_t
    uint8_t* buffer;
    size_t buffer_length;
    size_t buffer_capacity;
    Allocator allocator;
};

constexpr int RET_OK = 0;                // RCL_RET_OK
constexpr int RET_NOTHING_THERE = 401;   // RCL_RET_SUBSCRIPTION_TAKE_FAILED

struct Functions {
    int (*publish)(const void* publisher, const Bytes* message, void* allocation);
    int (*take)(const void* subscription, Bytes* message, void* message_info, void* allocation);
    void (*reset_error)();
    int (*listeners)(const void* publisher, size_t* count);      // or NULL
    int (*on_new_message)(const void* subscription, void (*callback)(const void* data, size_t count), const void* data);   // or NULL
    const void* implementation;          // a constant of the middleware's own library (its name), or NULL
};

inline const void* implementation() {
    void* rmw = dlopen("librmw_implementation.so", RTLD_LAZY | RTLD_NOLOAD);
    typedef const char* (*Name)();
    const Name name = rmw ? reinterpret_cast<Name>(dlsym(rmw, "rmw_get_implementation_identifier")) : nullptr;
    return name ? name() : nullptr;
}

// Fills `f`; false when no librcl.so is loaded or it lacks a function (dlerror() tells which).
inline bool look_up(Functions* f) {
    void* rcl = dlopen("librcl.so", RTLD_LAZY | RTLD_NOLOAD);
    void* rcutils = dlopen("librcutils.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!rcl || !rcutils) return false;
    f->publish = reinterpret_cast<decltype(f->publish)>(dlsym(rcl, "rcl_publish_serialized_message"));
    f->take = reinterpret_cast<decltype(f->take)>(dlsym(rcl, "rcl_take_serialized_message"));
    f->reset_error = reinterpret_cast<decltype(f->reset_error)>(dlsym(rcutils, "rcutils_reset_error"));
    f->listeners = reinterpret_cast<decltype(f->listeners)>(dlsym(rcl, "rcl_publisher_get_subscription_count"));
    f->on_new_message = reinterpret_cast<decltype(f->on_new_message)>(dlsym(rcl, "rcl_subscription_set_on_new_message_callback"));
    f->implementation = implementation();
    return f->publish && f->take && f->reset_error;
}

// A service's side: requests and answers are structs of rosidl's C interface, created by the type's own functions. Of their layout only
// what follows is used, and StepService (dataplane_service.pxi) compares it with what rclpy reads before it serves anybody.
struct String {                          // rosidl_runtime_c__String
    char* data;
    size_t size, capacity;
};

struct Sequence {                        // rosidl_runtime_c__*__Sequence
    void* data;
    size_t size, capacity;
};

struct JointState {                      // sensor_msgs__msg__JointState
    int32_t sec;
    uint32_t nanosec;
    String frame_id;
    Sequence name, position, velocity, effort;
};

struct StepRequest {                     // mbros_msgs__srv__Step_Request
    uint32_t steps;
    JointState command;
};

struct StepResponse {                    // mbros_msgs__srv__Step_Response
    bool success;
    String message;
    uint64_t step;
    JointState joint_state;
    Sequence odometry;
};

struct Asker {                           // rmw_request_id_t, 24 bytes
    uint64_t bytes[8];
};

struct ServiceFunctions {
    int (*take)(const void* service, Asker* who, void* request);
    int (*send)(const void* service, Asker* who, void* response);
    int (*serialize)(const void* message, const void* type, Bytes* bytes);
    int (*deserialize)(const Bytes* bytes, const void* type, void* message);
    bool (*assign)(String* string, const char* text, size_t size);
    int (*on_new_request)(const void* service, void (*callback)(const void* data, size_t count), const void* data);
};

constexpr int RET_TIMEOUT = 2;           // RCL_RET_TIMEOUT
constexpr int RET_NO_REQUEST = 601;      // RCL_RET_SERVICE_TAKE_FAILED

// Fills `f`; false when a function is missing. What librcl.so is linked against is looked through too.
inline bool look_up_service(ServiceFunctions* f) {
    void* rcl = dlopen("librcl.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!rcl) return false;
    f->take = reinterpret_cast<decltype(f->take)>(dlsym(rcl, "rcl_take_request"));
    f->send = reinterpret_cast<decltype(f->send)>(dlsym(rcl, "rcl_send_response"));
    f->serialize = reinterpret_cast<decltype(f->serialize)>(dlsym(rcl, "rmw_serialize"));
    f->deserialize = reinterpret_cast<decltype(f->deserialize)>(dlsym(rcl, "rmw_deserialize"));
    f->assign = reinterpret_cast<decltype(f->assign)>(dlsym(rcl, "rosidl_runtime_c__String__assignn"));
    f->on_new_request = reinterpret_cast<decltype(f->on_new_request)>(dlsym(rcl, "rcl_service_set_on_new_request_callback"));
    return f->take && f->send && f->serialize && f->deserialize && f->assign && f->on_new_request;
}

// A buffer that never grows: rcl is given these functions and told "no memory" when a message does not fit, so that
// no sender can make the loop's thread allocate.
inline void* refuse(size_t, void*) { return nullptr; }
inline void keep(void*, void*) {}
inline void* refuse_more(void*, size_t, void*) { return nullptr; }
inline void* refuse_zeroed(size_t, size_t, void*) { return nullptr; }

inline Bytes fixed_buffer(uint8_t* memory, size_t length, size_t capacity) {
    Bytes b;
    b.buffer = memory;
    b.buffer_length = length;
    b.buffer_capacity = capacity;
    b.allocator = Allocator{refuse, keep, refuse_more, refuse_zeroed, nullptr};
    return b;
}

// Numbers that one thread writes and another reads, each for itself.
template <class T> inline void store(T* where, T x) { __atomic_store_n(where, x, __ATOMIC_RELEASE); }
template <class T> inline T load(const T* where) { return __atomic_load_n(where, __ATOMIC_ACQUIRE); }

}  // namespace mbros_rcl
