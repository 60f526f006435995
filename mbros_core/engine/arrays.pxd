"""The memory of NumPy arrays, for C functions: pointers that are good as long as the array is held.

Whatever the checks in Python have found, an array is asked here again whether its memory is as it will be read. A module that cimports
this one calls cnp.import_array(). Typed memoryviews would ask the same, and are a third of a module (docs/decisions/003-compiler.md).
"""
cimport numpy as cnp


cdef inline void* memory_of(object array, int kind, int dimensions, bint written=True) except? NULL:
    """The numbers of an aligned C-contiguous array of this NumPy type and number of dimensions; written: they can be written to."""
    if (cnp.PyArray_Check(array) and (cnp.PyArray_TYPE(array) == kind or cnp.PyArray_EquivTypenums(cnp.PyArray_TYPE(array), kind))
            and cnp.PyArray_NDIM(array) == dimensions
            and (cnp.PyArray_ISCARRAY(array) if written else cnp.PyArray_ISCARRAY_RO(array))):
        return cnp.PyArray_DATA(array)
    raise ValueError(f"expected a C-contiguous array of another type or number of dimensions, got {array!r}")


cdef inline double* doubles_of(object array, int dimensions) except? NULL:
    return <double*>memory_of(array, cnp.NPY_DOUBLE, dimensions)


cdef inline const double* constants_of(object array, int dimensions) except? NULL:
    """The same of an array that may be read-only."""
    return <const double*>memory_of(array, cnp.NPY_DOUBLE, dimensions, False)


cdef inline int* ints_of(object array, int dimensions) except? NULL:
    return <int*>memory_of(array, cnp.NPY_INT, dimensions)


cdef inline long long* long_longs_of(object array, int dimensions) except? NULL:
    return <long long*>memory_of(array, cnp.NPY_INT64, dimensions)


cdef inline char* bytes_of(object array) except? NULL:
    return <char*>memory_of(array, cnp.NPY_UINT8, 1)
