# ~/step without messages of Python: a request is read where rcl has put it, an answer is written where rcl takes it.

ctypedef void* (*Create)() noexcept
ctypedef void (*Destroy)(void*) noexcept
ctypedef bint (*FromPython)(PyObject*, void*) noexcept
ctypedef object (*ToPython)(void*)


cdef void* _of_type(kind, str name) except NULL:
    """What rosidl's generated module has under this name: a function or constant of the type."""
    capsule = getattr(type(kind), name)
    if capsule is None:
        type(kind).__import_type_support__()
        capsule = getattr(type(kind), name)
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


cdef int _write_message(kind, message, void* where) except -1:
    """A message of Python into rosidl's struct."""
    if not (<FromPython>_of_type(kind, "_CONVERT_FROM_PY"))(<PyObject*>message, where):
        raise DataPlaneError(f"a {type(message).__name__} could not be converted")
    return 0


cdef void _new_request(const void* data, size_t count) noexcept nogil:
    """Called by the middleware, on a thread of its own."""
    ring(<uint32_t*>data)


cdef size_t _room_of(const JointState* x) noexcept:
    """As many bytes as it has serialised, or some more: each text has a size, a zero and what aligns the next."""
    cdef size_t room = 128 + x.frame_id.size + 8 * (x.position.size + x.velocity.size + x.effort.size), k
    for k in range(x.name.size):
        room += (<const String*>x.name.data)[k].size + 9
    return room


cdef class StepService:
    """Requests of `~/step`, one at a time: `wait`, `take`, then `steps` and `command`, then `write` and `answer`, or `refuse`.

    service: an rclpy service of mbros_msgs/srv/Step that no executor serves. Raises DataPlaneError where this ROS lays its messages out
    otherwise than rcl_abi.hpp says, or lacks a function.
    """
    cdef ServiceFunctions rcl
    cdef Asker asker_
    cdef bint rung                      # the middleware rings for requests
    cdef uint32_t bell, heard           # rings so far: of requests and wake(), and those that wait() has seen
    cdef StepRequest* request
    cdef StepResponse* response
    cdef StepResponse* refusal          # never has a state
    cdef const void* service
    cdef const void* joint_state_type
    cdef const void* odometry_type
    cdef Destroy destroy_request, destroy_response
    cdef object kind, handle
    cdef CommandInput reader
    cdef Output joint_state, odometry

    def __cinit__(self, service):
        from nav_msgs.msg import Odometry
        from sensor_msgs.msg import JointState as JointStateMessage

        _need_rcl()
        if not look_up_service(&self.rcl):
            raise DataPlaneError("a function for services was not found in the librcl.so of this process; ~/step goes through Python")
        self.kind = service.srv_type
        asked, answered = self.kind.Request, self.kind.Response
        self.joint_state_type = _of_type(JointStateMessage, "_TYPE_SUPPORT")
        self.odometry_type = _of_type(Odometry, "_TYPE_SUPPORT")
        self.destroy_request = <Destroy>_of_type(asked, "_DESTROY_ROS_MESSAGE")
        self.destroy_response = <Destroy>_of_type(answered, "_DESTROY_ROS_MESSAGE")
        self.request = <StepRequest*>(<Create>_of_type(asked, "_CREATE_ROS_MESSAGE"))()
        self.response = <StepResponse*>(<Create>_of_type(answered, "_CREATE_ROS_MESSAGE"))()
        self.refusal = <StepResponse*>(<Create>_of_type(answered, "_CREATE_ROS_MESSAGE"))()
        if not (self.request and self.response and self.refusal):
            raise MemoryError()
        self._compare(JointStateMessage, Odometry)
        self.handle = service.handle
        self.handle.__enter__()                 # rclpy does not destroy a handle in use
        self.service = <const void*><uintptr_t>self.handle.pointer
        self.rung = self.rcl.on_new_request(self.service, _new_request, &self.bell) == RET_OK
        if not self.rung:
            rcl.reset_error()
            self.close()
            raise DataPlaneError("this middleware does not say when a request has come; ~/step goes through Python")

    cdef int _compare(self, state, odometry) except -1:
        """Whether the structs are those of rcl_abi.hpp."""
        cdef StepRequest* q = self.request
        cdef StepResponse* r = self.response
        given = state(name=["a", "b"], position=[1.0, 2.0, 3.0], velocity=[4.0] * 4, effort=[5.0] * 5)
        given.header.frame_id = "base"
        _write_message(self.kind.Request, self.kind.Request(steps=123456789, command=given), q)
        answer = self.kind.Response(success=True, message="seven", step=1 << 40, joint_state=given, odometry=[odometry()] * 6)
        _write_message(self.kind.Response, answer, r)
        if (q.steps, r.success, r.message.size, r.step, r.odometry.size) != (123456789, True, 5, 1 << 40, 6) \
                or self._sizes(&q.command) != (2, 3, 4, 5) or self._sizes(&r.joint_state) != (2, 3, 4, 5) \
                or q.command.frame_id.size != 4 or (<const String*>q.command.name.data)[1].size != 1 \
                or (<double*>q.command.effort.data)[4] != 5.0 or r.message.data[:5] != b"seven":
            raise DataPlaneError("this ROS lays out mbros_msgs/srv/Step in a way that is not known here; ~/step goes through Python")
        return 0

    cdef tuple _sizes(self, const JointState* x):
        return x.name.size, x.position.size, x.velocity.size, x.effort.size

    def follow(self, CommandInput reader, Output joint_state, Output odometry=None):
        """From now on: what reads a command (its kind is "joint_state"), and what writes the state (they are not plugs of a loop)."""
        self.reader, self.joint_state, self.odometry = reader, joint_state, odometry
        self._blank()

    cdef int _blank(self) except -1:
        """An answer with as many odometries as there will be."""
        from nav_msgs.msg import Odometry

        self.destroy_response(self.response)
        self.response = <StepResponse*>(<Create>_of_type(self.kind.Response, "_CREATE_ROS_MESSAGE"))()
        if self.response is NULL:
            raise MemoryError()
        _write_message(self.kind.Response, self.kind.Response(success=True, odometry=[Odometry()] * (self.odometry is not None)),
                       self.response)
        return 0

    def wait(self, double seconds):
        """Sleep until requests have come or wake() is called, so long at most. Those that came before the call count, once."""
        cdef int64_t until = _time_ns(CLOCK_MONOTONIC) + llround(1e9 * min(3600.0, max(0.0, seconds)))
        with nogil:
            listen(&self.bell, self.heard, until)
            self.heard = rings(&self.bell)

    def wake(self):
        """End a wait(), from any thread."""
        with nogil:
            ring(&self.bell)

    def take(self):
        """Whether there was a request; it is the one that the other calls are about."""
        cdef int answer
        with nogil:
            answer = self.rcl.take(self.service, &self.asker_, self.request)
        if answer not in (RET_OK, RET_NO_REQUEST):
            rcl.reset_error()
            raise DataPlaneError(f"rcl_take_request returned {answer}")
        return answer == RET_OK

    def put(self, request):
        """The same with a request of Python. For tests."""
        _write_message(self.kind.Request, request, self.request)

    @property
    def steps(self):
        """As asked for; 0: as many as the parameter says."""
        return self.request.steps

    def command(self):
        """None where the request commands nothing; else ("accepted", command (command_size,), about) or (reason, None, about), as
        commands.command_from_joint_state has it. However large the request is: it is in memory already, and its own thread's affair."""
        cdef JointState* given = &self.request.command
        cdef InputState* s = &self.reader.state
        cdef size_t room = _room_of(given)
        cdef bytes larger
        cdef Bytes written = fixed_buffer(s.memory, 0, s.room)
        cdef int answer
        if self._sizes(given) == (0, 0, 0, 0):
            return None
        if room > s.room:
            larger = PyBytes_FromStringAndSize(NULL, room)
            written = fixed_buffer(<uint8_t*><char*>larger, 0, room)
        answer = self.rcl.serialize(given, self.joint_state_type, &written)
        if answer != RET_OK:
            rcl.reset_error()
            raise DataPlaneError(f"a request of {room} bytes could not be read")
        reason, command = self.reader.decode((<const char*>written.buffer)[:written.buffer_length])
        return reason, command, ("", NAN) if reason == "accepted" else self.reader.last_problem()[1:]

    cdef int _write(self, Output state, const void* type, void* where, const double[::1] x, int64_t stamp) except -1:
        _patch(&state.state, &x[0], stamp)
        if self.rcl.deserialize(&state.state.message, type, where) != RET_OK:
            rcl.reset_error()
            raise DataPlaneError("a state could not be written into an answer")
        return 0

    def write(self, str text, uint64_t step, const double[::1] x, int64_t stamp):
        """The answer: what was done, and the state of this snapshot with this stamp, ns."""
        self._assign(&self.response.message, text)
        self.response.success, self.response.step = True, step
        self._write(self.joint_state, self.joint_state_type, &self.response.joint_state, x, stamp)
        if self.odometry is not None:
            self._write(self.odometry, self.odometry_type, self.response.odometry.data, x, stamp)

    def written(self):
        """What `write` wrote, as a message."""
        return (<ToPython>_of_type(self.kind.Response, "_CONVERT_TO_PY"))(self.response)

    cdef int _assign(self, String* where, str text) except -1:
        encoded = text.encode()
        if not self.rcl.assign(where, encoded, len(encoded)):
            raise MemoryError()
        return 0

    cdef bint _send(self, StepResponse* response) except -1:
        cdef int answer
        with nogil:
            answer = self.rcl.send(self.service, &self.asker_, response)
        if answer != RET_OK:
            rcl.reset_error()
            if answer != RET_TIMEOUT:
                raise DataPlaneError(f"rcl_send_response returned {answer}")
        return answer == RET_OK

    @property
    def asker(self):
        """Who asks, as the middleware has it: 16 bytes, the same for all requests of a client."""
        return (<const char*>&self.asker_.bytes)[:16]

    def answer(self):
        """Send what `write` wrote. False after a tenth of a second in which the middleware has not found where this client listens, which
        on a busy machine comes later than its request: send it again."""
        return self._send(self.response)

    def refuse(self, str text):
        """Say why nothing was done; False as of `answer`."""
        self._assign(&self.refusal.message, text)
        return self._send(self.refusal)

    def close(self):
        """Let go of the service; nobody may be in a call."""
        self._silence()
        if self.handle is not None:
            self.handle.__exit__(None, None, None)
        self.handle = None

    cdef void _silence(self) noexcept:
        if self.rung:
            with nogil:
                self.rcl.on_new_request(self.service, NULL, NULL)
        self.rung = False

    def __dealloc__(self):
        self._silence()
        if self.request is not NULL:
            self.destroy_request(self.request)
        for p in (<uintptr_t>self.response, <uintptr_t>self.refusal):
            if p:
                self.destroy_response(<void*>p)
