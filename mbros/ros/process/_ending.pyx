# distutils: language = c++
# cython: language_level=3, embedsignature=True
"""The thread that takes the signals of a process, without Python and its lock (ending.hpp). It imports nothing that Python has not
imported: until it is there, a signal waits."""
import os

cdef extern from "<signal.h>" nogil:
    ctypedef struct sigset_t:
        pass
    int sigemptyset(sigset_t* signals)
    int sigaddset(sigset_t* signals, int number)

cdef extern from "mbros/ros/process/ending.hpp" namespace "mbros_ending" nogil:
    cppclass Doing:
        void say(const char* text)
    cppclass Ending:
        Doing doing
        @staticmethod
        Ending* make()
        int begin(const sigset_t& signals, int door, double seconds)
        void in_order()
        void ask(bint failed)
        bint asked()


cdef class Signals:
    """Takes these signals, which every thread of the process blocks, from now to its end.

    door: of a pipe, written to when the end is asked for. patience: how long an orderly end may take (s, in steps of 0.1; a time in which
    the whole computer stood still counts as 0.1 s); then the process ends with code 0 all the same, and says what it was doing.
    """
    cdef Ending* it             # for good: its thread ends with the process

    def __cinit__(self, signals, int door, double patience):
        cdef sigset_t taken
        cdef int number
        sigemptyset(&taken)
        for number in signals:
            sigaddset(&taken, number)
        self.it = Ending.make()
        if self.it == NULL:
            raise MemoryError
        cdef int error = self.it.begin(taken, door, patience)
        if error:
            raise OSError(error, os.strerror(error))

    def in_order(self):
        """From here on a signal asks for an orderly end; before, it ends the process at once, with code 0."""
        with nogil:
            self.it.in_order()

    def ask(self, bint failed=False):
        """What a signal does. failed: an end that was not orderly has code 1 from then on."""
        with nogil:
            self.it.ask(failed)

    def asked(self):
        """Whether an orderly end was asked for."""
        return self.it.asked()

    def say_doing(self, str what):
        """What is under way, for the sentence of an end that was not orderly; 127 bytes of it are kept."""
        self.it.doing.say(what.encode())
