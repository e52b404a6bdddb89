"""Counts of the work of a function, and a test that it grows in proportion to the input.

Work is counted, not timed: the bytecodes that the calling thread executes, and the bytes that
Python and NumPy allocate.  A pass over a sequence in Python shows in the first count; a copy of
a buffer, which is one bytecode for any length, shows in the second.  Both counts are the same on
each run and each machine with one version of Python, so sizes of some ten elements suffice.
"""

import ctypes
import gc
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

SIZES = (8, 16, 32, 64)
"""Sizes that `assert_linear` tries by default: n, 2n, 4n and 8n."""

_SLACK = 1.03  # constant parts of the work that are not the same at each size
_STEPS = 3.0  # growth of allocated bytes: 2 if linear, 4 if quadratic; containers grow in steps
_FEW_BYTECODES = 200
_FEW_BYTES = 16384


class Work(NamedTuple):
    """Work of one call: executed bytecodes, and bytes allocated by Python and NumPy."""

    bytecodes: int
    allocated: int


def work(function: Callable[[], object]) -> int:
    """Return the number of bytecodes that ``function()`` executes in this thread."""
    return measured(function).bytecodes


def measured(function: Callable[[], object]) -> Work:
    """Return the work of ``function()`` in this thread; allocated bytes are 0 without llvmlite."""
    counter = _native_counter()
    if counter is None:
        return Work(traced(function), 0)
    return counter.measured(function)


def assert_linear(
    make_input: Callable[[int], object],
    run: Callable[..., object],
    sizes: Sequence[int] = SIZES,
    *,
    sorts: bool = False,
    allocated: bool = True,
) -> list[Work]:
    """Return the work of ``run(make_input(n))`` at each of ``sizes``; it must be linear.

    ``sizes`` are n, 2n, 4n and 8n.  Between two sizes the increase of linear work doubles, and
    no more is allowed, or with ``sorts`` the increase of n log n.  ``make_input`` is not counted,
    and a run at the least size comes first, so that imports and tables made once do not count.
    Work that grows faster is tried again at three times the sizes: a container that happens to
    grow between two sizes is no finding, a pass for each element grows at any size.
    ``allocated`` tells whether allocated bytes are judged too.

    Raises AssertionError with the counts if the work grows faster.
    """
    run(make_input(sizes[0]))
    for times in (1, 3):
        tried = [times * size for size in sizes]
        counts = [_measured_at(size, make_input, run) for size in tried]
        reason = superlinear(tried, counts, sorts=sorts, allocated=allocated)
        if not reason:
            return counts
    raise AssertionError(reason)


def _measured_at(
    size: int, make_input: Callable[[int], object], run: Callable[..., object]
) -> Work:
    given = make_input(size)
    return measured(lambda: run(given))


def superlinear(
    sizes: Sequence[int], counts: Sequence[Work], *, sorts: bool = False, allocated: bool = True
) -> str:
    """Return which count grows faster than allowed from size to size, or an empty string."""
    limits = {"bytecodes": (_n_log_n(sizes[1]) if sorts else 2) * _SLACK}
    few = {"bytecodes": _FEW_BYTECODES, "allocated": _FEW_BYTES}
    if allocated:
        limits["allocated"] = _STEPS
    for name, limit in limits.items():
        of = [getattr(count, name) for count in counts]
        rise, last = of[-2] - of[-3], of[-1] - of[-2]
        if last > limit * max(rise, 0) + few[name]:
            return f"{name} at sizes {list(sizes)}: {of}, more than linear"
    return ""


def _n_log_n(size: int) -> float:
    """Return the growth of the increase of n log n from ``size`` on: its next over its last."""
    values = [n * math.log2(n + 1) for n in (size, 2 * size, 4 * size)]
    return (values[2] - values[1]) / (values[1] - values[0])


def traced(function: Callable[[], object]) -> int:
    """Return the number of bytecodes that ``function()`` executes, by a trace function."""
    count = 0

    def local(frame, event, argument):
        nonlocal count
        count += event == "opcode"
        return local

    def entered(frame, event, argument):
        frame.f_trace_opcodes = True
        return local

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@cache
def _native_counter() -> "_NativeCounter | None":
    try:
        return _NativeCounter()
    except ImportError:
        return None


_DOMAINS = (1, 2)  # PYMEM_DOMAIN_MEM and _OBJ; both pass large blocks on to _RAW
_NUMPY_SET_HANDLER, _NUMPY_GET_HANDLER = 304, 305  # places in NumPy's table of C functions

_TRACE = """
@bytecodes = global i64 0
@allocated = global i64 0
@opcodes = constant [16 x i8] c"f_trace_opcodes\\00"

define i32 @trace(ptr %self, ptr %frame, i32 %what, ptr %argument) {{
  switch i32 %what, label %done [ i32 0, label %call
                                  i32 7, label %opcode ]
opcode:
  %before = load i64, ptr @bytecodes
  %after = add i64 %before, 1
  store i64 %after, ptr @bytecodes
  ret i32 0
call:
  %set = inttoptr i64 {set_attribute} to ptr
  %result = call i32 %set(ptr %frame, ptr @opcodes, ptr inttoptr (i64 {true} to ptr))
  ret i32 %result
done:
  ret i32 0
}}

define void @count(i64 %size) alwaysinline {{
  %before = load i64, ptr @allocated
  %after = add i64 %before, %size
  store i64 %after, ptr @allocated
  ret void
}}
"""
"""A ``Py_tracefunc``: it counts opcode events, and asks for them in each frame it enters."""

_ALLOCATOR = """
define ptr @malloc{number}(ptr %context, i64 %size) {{
  call void @count(i64 %size)
  %f = inttoptr i64 {malloc} to ptr
  %r = call ptr %f(ptr %context, i64 %size)
  ret ptr %r
}}
define ptr @calloc{number}(ptr %context, i64 %n, i64 %size) {{
  %bytes = mul i64 %n, %size
  call void @count(i64 %bytes)
  %f = inttoptr i64 {calloc} to ptr
  %r = call ptr %f(ptr %context, i64 %n, i64 %size)
  ret ptr %r
}}
define ptr @realloc{number}(ptr %context, ptr %old, i64 %size) {{
  call void @count(i64 %size)
  %f = inttoptr i64 {realloc} to ptr
  %r = call ptr %f(ptr %context, ptr %old, i64 %size)
  ret ptr %r
}}
"""


class _Allocator(ctypes.Structure):
    """``PyMemAllocatorEx``, and ``PyDataMemAllocator`` of NumPy, which has the same members."""

    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")
    )


class _NumpyHandler(ctypes.Structure):
    """``PyDataMem_Handler``."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", _Allocator),
    )


class _NativeCounter:
    """Counts by a trace function and allocators in machine code.  Mutable."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        self._numpy = _numpy_handler()
        self._allocators = [_Allocator() for _ in _DOMAINS]
        for domain, allocator in zip(_DOMAINS, self._allocators, strict=True):
            ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(allocator))
        originals = [*self._allocators, self._numpy.allocator]
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        code = llvm.parse_assembly(_source(originals))
        self._engine = llvm.create_mcjit_compiler(code, machine)
        self._engine.finalize_object()
        self._counting = [self._replaced(number, each) for number, each in enumerate(originals)]
        self._handler = _NumpyHandler(b"counting", 1, self._counting[-1])
        self._bytecodes = self._variable("bytecodes")
        self._allocated = self._variable("allocated")
        self._set_trace = ctypes.pythonapi["PyEval_SetTrace"]
        self._set_trace.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        self._set_trace.restype = None

    def measured(self, function: Callable[[], object]) -> Work:
        """Return the work of ``function()``."""
        trace = self._engine.get_function_address("trace")
        tracing = sys.gettrace()
        _empty_free_lists()
        with self._allocations():
            self._bytecodes.value = self._allocated.value = 0
            self._set_trace(trace, None)
            try:
                function()
            finally:
                self._set_trace(None, None)
                counted = Work(self._bytecodes.value, self._allocated.value)
        if tracing is not None:
            sys.settrace(tracing)
        return counted

    @contextmanager
    def _allocations(self):
        """Count allocated bytes in the body of a ``with``."""
        set_allocator = ctypes.pythonapi.PyMem_SetAllocator
        for domain, allocator in zip(_DOMAINS, self._counting[:-1], strict=True):
            set_allocator(domain, ctypes.byref(allocator))
        before = _set_numpy_handler(_capsule(self._handler))
        try:
            yield
        finally:
            _set_numpy_handler(before)
            for domain, allocator in zip(_DOMAINS, self._allocators, strict=True):
                set_allocator(domain, ctypes.byref(allocator))

    def _replaced(self, number: int, allocator: _Allocator) -> _Allocator:
        names = ("malloc", "calloc", "realloc")
        functions = [self._engine.get_function_address(f"{name}{number}") for name in names]
        return _Allocator(allocator.context, *functions, allocator.free)

    def _variable(self, name: str) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._engine.get_global_value_address(name))


def _empty_free_lists() -> None:
    """Have Python release the tuples, lists, dictionaries and numbers that it keeps for reuse.

    An object that is reused is not allocated, and how many are kept depends on all that ran
    before.  A full collection releases them; it is quick with every object frozen.
    """
    gc.freeze()
    gc.collect()


def _source(allocators: Sequence[_Allocator]) -> str:
    """Return the LLVM assembly of the trace function and of allocators that count."""
    set_attribute = ctypes.cast(ctypes.pythonapi.PyObject_SetAttrString, ctypes.c_void_p).value
    parts = [_TRACE.format(set_attribute=set_attribute, true=id(True))]
    for number, allocator in enumerate(allocators):
        functions = {name: getattr(allocator, name) for name in ("malloc", "calloc", "realloc")}
        parts.append(_ALLOCATOR.format(number=number, **functions))
    return "\n".join(parts)


def _numpy_function(place: int, *arguments: type) -> Callable[..., object]:
    from numpy._core import _multiarray_umath

    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    pointer.restype = ctypes.c_void_p
    table = pointer(_multiarray_umath._ARRAY_API, None)
    function = ctypes.c_void_p.from_address(table + place * ctypes.sizeof(ctypes.c_void_p)).value
    return ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(function)


def _set_numpy_handler(handler: object) -> object:
    return _numpy_function(_NUMPY_SET_HANDLER, ctypes.py_object)(handler)


def _numpy_handler() -> _NumpyHandler:
    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    pointer.restype = ctypes.c_void_p
    capsule = _numpy_function(_NUMPY_GET_HANDLER)()
    return _NumpyHandler.from_buffer_copy(
        ctypes.string_at(pointer(capsule, b"mem_handler"), ctypes.sizeof(_NumpyHandler))
    )


def _capsule(handler: _NumpyHandler) -> object:
    new = ctypes.pythonapi["PyCapsule_New"]
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    new.restype = ctypes.py_object
    return new(ctypes.addressof(handler), b"mem_handler", None)
