"""Plugs in capsules that keep their owner: the memory behind a capsule lives as long as the capsule does."""
from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_New, PyCapsule_SetContext, PyCapsule_SetDestructor
from cpython.ref cimport Py_DECREF, Py_INCREF

from mbros_core.realtime.ports cimport mbros_memory


cdef inline void drop_owner(object capsule) noexcept:
    Py_DECREF(<object>(<mbros_memory*>PyCapsule_GetContext(capsule)).owner)


cdef inline object plug_of(object owner, void* plug, const char* name, mbros_memory* memory):
    """A capsule of that name around `plug`, which lies in `owner`, as does `memory`.

    Each call makes another: an owner that kept its capsule would keep itself.
    """
    capsule = PyCapsule_New(plug, name, NULL)
    memory.owner = <void*>owner
    PyCapsule_SetContext(capsule, memory)
    Py_INCREF(owner)
    PyCapsule_SetDestructor(capsule, drop_owner)
    return capsule
