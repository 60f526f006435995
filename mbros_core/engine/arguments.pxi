# What the algorithms of one robot ask of their arguments, and how their results leave. Only the double modules include this file.

cdef class Checked(Model):
    """A model whose calls trust nothing they are given. A call changes nothing when it is refused or when its result is not finite."""

    # Each check is a short inline function for what nearly always comes, and a call for everything else: a caller pays for a few
    # comparisons and for no new reference but the one it keeps.

    @cython.final
    cdef inline State own(self, object state):
        """The state, which must be one of this model's, and nobody else's at the moment."""
        if type(state) is State and (<State>state).model is self and not is_held(&(<State>state).held) and not self._needs_gil:
            (<State>state).kept = False
            return <State>state
        return self.own_after_all(state)

    @cython.final
    cdef State own_after_all(self, object state):
        if not isinstance(state, State) or (<State>state).model is not self:
            raise foreign_state(self, state)
        (<State>state).begin()
        (<State>state).kept = False
        return <State>state

    @cython.final
    cdef inline int place(self, State state, object q, object v) except -1:
        """The state at q and v where they are given, as State.set puts it: the last of a call's arguments to be refused, so that nothing
        has changed where another one was. `not_finite` takes it back."""
        if q is not None or v is not None:
            state.keep()
            state.put(q, v, q is not None, v is not None)
        return 0

    @cython.final
    cdef inline cnp.ndarray vector(self, object x, int n, str name):
        """x itself when it is a plain float64 vector of n numbers, a converted copy when it can become one."""
        return <cnp.ndarray>x if is_vector(x, n) else self.made_vector(x, n, name)

    @cython.final
    cdef inline cnp.ndarray vector_beside(self, State state, object x, int n, str name):
        """The same; a copy, too, of what lies in the state's own memory, where the algorithm writes while it reads."""
        if is_vector(x, n) and not state.memory.holds(<cnp.ndarray>x):
            return <cnp.ndarray>x
        return self.vector_apart(state, x, n, name)

    @cython.final
    cdef cnp.ndarray made_vector(self, object x, int n, str name):
        return given_numbers(f"model {self.name!r}", name, x, (n,))

    @cython.final
    cdef cnp.ndarray vector_apart(self, State state, object x, int n, str name):
        cdef cnp.ndarray a = self.vector(x, n, name)
        return a.copy() if state.memory.holds(a) else a

    @cython.final
    cdef inline cnp.ndarray result(self, object out, int rows, int columns):
        """`out` when it fits, or a new array of (rows,) or (rows, columns); columns = -1 asks for a vector."""
        if (cnp.PyArray_CheckExact(out) and cnp.PyArray_TYPE(<cnp.ndarray>out) == cnp.NPY_DOUBLE
                and cnp.PyArray_NDIM(<cnp.ndarray>out) == (1 if columns < 0 else 2) and cnp.PyArray_DIM(<cnp.ndarray>out, 0) == rows
                and (columns < 0 or cnp.PyArray_DIM(<cnp.ndarray>out, 1) == columns) and cnp.PyArray_ISCARRAY(<cnp.ndarray>out)):
            return <cnp.ndarray>out
        return self.made_result(out, rows, columns)

    @cython.final
    cdef cnp.ndarray made_result(self, object out, int rows, int columns):
        cdef cnp.npy_intp shape[2]
        cdef int n = 1 if columns < 0 else 2
        shape[0], shape[1] = rows, columns
        if out is None:
            return new_array(n, shape)
        return given_room(f"model {self.name!r}", "out", out, (rows, columns)[:n])

    @cython.final
    cdef inline cnp.ndarray draft(self, cnp.ndarray result, object out):
        """Where to compute what is written piece by piece: the result where it is new, else an array beside `out`, which may overlap
        what is read, and which keeps what it holds when there is no result."""
        return result if out is None else new_array(cnp.PyArray_NDIM(result), cnp.PyArray_DIMS(result))

    @cython.final
    cdef inline cnp.ndarray delivered(self, cnp.ndarray result, const real* draft, str what, State state):
        """The result, with the numbers of its draft, when they are finite."""
        if not all_finite(draft, cnp.PyArray_SIZE(result)):
            raise not_finite(self, what, state, "", None)
        if <void*>draft != cnp.PyArray_DATA(result):
            memmove(cnp.PyArray_DATA(result), draft, cnp.PyArray_NBYTES(result))
        return result

    @cython.final
    cdef cnp.ndarray configured(self, cnp.ndarray result, cnp.ndarray draft, str what, str name_a, object a, str name_b, object b):
        """The same for what is computed from a, a configuration or a state's, and b."""
        if not all_finite(<real*>cnp.PyArray_DATA(draft), cnp.PyArray_SIZE(draft)):
            try:
                raise NonFiniteError(explain_not_finite(self, what, {name_a: a.q if isinstance(a, State) else a, name_b: b}))
            finally:
                if isinstance(a, State):
                    (<State>a).take_back()
        if draft is not result:
            memcpy(cnp.PyArray_DATA(result), cnp.PyArray_DATA(draft), cnp.PyArray_NBYTES(draft))
        return result

    @cython.final
    cdef inline cnp.ndarray finished(self, cnp.ndarray out, real* x, Py_ssize_t n, str what, State state, str name, object given):
        """Copy x to out, unless a number of it is not finite."""
        if not all_finite(x, n):
            raise not_finite(self, what, state, name, given)
        memmove(cnp.PyArray_DATA(out), x, n * sizeof(real))
        return out

    @cython.final
    cdef double one(self, real x, str what, State state) except? -1:
        """x, when it is finite."""
        if not all_finite(&x, 1):
            raise not_finite(self, what, state, "", None)
        return value(x)

    @cython.final
    cdef inline int index(self, object k, int n, str what) except -1:
        """k, the number of a frame or force element, when there are n."""
        cdef Py_ssize_t i = whole(k)
        if not 0 <= i < n:
            raise CoordinateIndexError(f"model {self.name!r}: {what} index {short(k)} is outside 0..{n - 1}")
        return i


# ------------------------------------------------------------------------------- what can go wrong, in words

cdef object foreign_state(Checked model, object state):
    return state_error(f"model {model.name!r}", model, state)


cdef object not_finite(Checked model, str what, State state, str name, object given):
    try:
        return NonFiniteError(explain_not_finite(model, what, inputs_of(state, name, given)))
    finally:
        state.take_back()               # and its stage: what was computed of it may be as wrong as the result
