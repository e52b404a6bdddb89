"""Machine code of guarded allocations (``guard_pages``): an allocator, and reports of faults.

    ptr malloc(ptr state, i64 size)                     uninitialised memory has the byte POISON
    ptr calloc(ptr state, i64 count, i64 each)          zeroed
    ptr realloc(ptr state, ptr old, i64 size)
    void free(ptr state, ptr old, i64 size)
    void fault(i32 signal, ptr info, ptr context)       a handler of SIGSEGV

The first four are a PyDataMemAllocator of NumPy, which is called with the GIL held.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.machine import llvm
from dp2emu.shader.jit.scalars import Code, Value, Variable
from dp2emu.shader.jit.writer import Writer, module

STATE = (
    "base", "pages", "cursor", "owners", "edge", "live", "made",
    "fresh", "taken", "freed", "queue", "poison",
    "mprotect", "mmap", "memcmp", "abort", "memset", "memcpy", "write", "sigaction",
    "report", "old", "text",
)  # fmt: skip
"""Names of the 64-bit words of the state: start of the arena and its number of pages, the page to
allocate next, the table of owners, the edge that arrays lie at, the number of live arrays and of
all arrays; the next slot that was never used, the numbers of slots taken from and put in the
``queue`` of free slots so far; then addresses: of the queue, of a page of poison, of functions of
the C library; the file descriptor for reports; and addresses of the signal's old action and of
``TEXT``.

The arena begins with ``SLOTS`` slots for arrays of at most a page.  Slot n is page 2 n + 1, which
stays accessible once it was used: changing the access to a page takes long.  A free slot has the
byte POISON everywhere, and so has the rest of a slot beside its array; both are checked when the
slot is taken and freed.

``owners`` has a 64-bit word for each page.  On the first page of a live array it is the size, on
the others -1; on the first page of a freed array the inverted size; otherwise 0."""
END, BEGIN = 1, 2
"""Values of ``edge``: arrays end, or begin, at an inaccessible page."""
POISON = 0xA5
"""Value of every byte of uninitialised memory."""
PAGE = mmap.PAGESIZE
NONE, READ, WRITE = 0, 1, 2
"""PROT_NONE, PROT_READ and PROT_WRITE of Linux."""
NO_RESERVE = 0x4000
"""MAP_NORESERVE of Linux, which Python's mmap lacks before 3.13."""
SLOTS = 1 << 14
"""Number of slots; Linux allows a process about 65,000 areas of equal access."""
WAITING = 1 << 11
"""Number of free slots that wait in the queue until the first is taken again."""
_FIXED = 0x10
_RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
SIGNAL = 11
"""SIGSEGV of Linux."""

REPORT = "guard page"
"""The first words, after dp2emu, of the line on standard error that reports an access."""
_HEX = b"0x" + bytes(16)
_HEAD = (
    f"dp2emu: {REPORT}".encode()
    + b": access to "
    + _HEX
    + b", outside an array of "
    + _HEX
    + b" bytes: "
)
_ENDINGS = (
    b"past its end", b"before its start", b"after it was freed", b"written past its end",
    b"far from any",
    b"written beside it",
    b"written while free",
)  # fmt: skip
_PAST, _BEFORE, _FREED, _WRITTEN, _FAR, _BESIDE, _WHILE_FREE = range(len(_ENDINGS))
_LONGEST = max(map(len, _ENDINGS)) + 1
_DIGITS = b"0123456789abcdef"
TEXT = _HEAD + b"".join(each.ljust(_LONGEST - 1) + b"\n" for each in _ENDINGS) + _DIGITS
"""The words of reports, and the digits."""
_ADDRESS_AT = _HEAD.index(_HEX) + 2
_SIZE_AT = len(_HEAD) - len(b" bytes: ") - 16
_FAULT_AT = 16
"""Byte offset of si_addr in siginfo_t of 64-bit Linux."""
FIRST_PAGE = 2 * SLOTS + 2
"""Number of the first page of the arena after the slots, less the page that guards it."""
_MOST_APART = 1 << 16
"""Number of pages before a fault in which its array is looked for."""

Function = tuple[str, Writer]


@lru_cache(maxsize=1)
def functions() -> dict[str, Any]:
    """Return the code of the allocator's functions by name.  Raises ImportError without
    llvmlite.
    """
    made = {"malloc": _malloc, "calloc": _calloc, "realloc": _realloc, "free": _free}
    inner = (_reserve, _report, _take_slot, _free_slot, _place)
    return {
        name: CodeSource.of(
            module(
                *(write().text(internal=True) for write in inner),
                *(made[each]().text(internal=True) for each in ("malloc", "free")
                  if name == "realloc"),
                write().text(),
            ),
            name,
        ).good()
        for name, write in made.items()
    }  # fmt: skip


def fault_handler(state: int) -> Any:
    """Return the code of the handler of SIGSEGV for the state at an address.

    Compiled each time: the object cache has no use for code with an address in it.
    """
    text = module(_fault(state).text())
    return llvm().load(llvm().begin(text)(), "fault")


class _State:
    """The state words, as values of the function being built."""

    def __init__(self, k: Code, start: Value) -> None:
        self._k, self._start = k, start

    def __getitem__(self, name: str) -> Value:
        return self._k.load("i64", self._start, STATE.index(name))

    def __setitem__(self, name: str, value: Value) -> None:
        self._k.store(value, self._start, STATE.index(name))

    def owners(self) -> Value:
        return self.pointer("owners")

    def pointer(self, name: str) -> Value:
        return self._k.load("ptr", self._start, STATE.index(name))

    def call(self, name: str, result: str, *operands: Value) -> Value:
        """Call a function of the C library."""
        return self._k.call(self.pointer(name).name, result, *operands)


def _pointer(k: Code, address: Value) -> Value:
    return Value(k.w, "ptr", k.w(f"inttoptr i64 {address.name} to ptr"))


def _number(k: Code, pointer: Value) -> Value:
    return Value(k.w, "i64", k.w(f"ptrtoint ptr {pointer.name} to i64"))


def _null(k: Code) -> Value:
    return Value(k.w, "ptr", "null")


def _live(owner: Value) -> Value:
    return (owner > 0) | owner.equals(-1)


def _pages(size: Value) -> Value:
    return (size + (PAGE - 1)).shifted(PAGE.bit_length() - 1)


def _page_of(state: _State, address: Value) -> Value:
    return (address - state["base"]).shifted(PAGE.bit_length() - 1)


def _reserve() -> Code:
    """The first of ``pages`` free pages that a free page follows; 0 if there is none."""
    k = Code("reserve", ("ptr state", "i64 pages"), "i64")
    state, pages = _State(k, k["state"]), k["pages"]
    first, free = k.variable("i64", state["cursor"]), k.variable("i64", 0)
    passes = k.variable("i64", 0)
    with k.while_(lambda: free.get() <= pages):
        with k.when(first.get() + pages >= state["pages"]):
            first.set(FIRST_PAGE)
            free.set(0)
            passes.add(1)
            k.give_if(passes.get() > 1, 0)
            k.give_if(pages + 1 >= state["pages"], 0)
        last = first.get() + free.get()
        live = _live(k.load("i64", state.owners(), last))
        # The page after a live one may be the page that guards it.
        first.set(live.choose(last + 2, first.get()))
        free.set(live.choose(k.constant("i64", 0), free.get() + 1))
    state["cursor"] = first.get() + pages + 1
    k.give(first.get())
    return k


def _report() -> Code:
    """Report that memory at ``address``, which belongs to no array, was written, and abort."""
    k = Code("report", ("ptr state", "i64 address", "i64 size", "i64 ending"))
    state = _State(k, k["state"])
    _write(k, state, k["address"], k["size"], k["ending"])
    state.call("abort", "void")
    k.give()
    return k


def _poisoned(k: Code, state: _State, start: Value, size: Value, array: Value, how: int) -> None:
    """Abort unless ``size`` bytes beside or in a freed ``array``, its size, are poison."""
    differs = state.call(
        "memcmp", "i32", _pointer(k, start), state.pointer("poison"), size
    ).differs(0)
    with k.when(differs):
        k.call("@report", "void", k["state"], start, array, k.constant("i64", how))


def _take_slot() -> Code:
    """The page of a free slot, filled with poison; 0 if there is none."""
    k = Code("take_slot", ("ptr state",), "i64")
    state = _State(k, k["state"])
    length = k.constant("i64", PAGE)
    waiting = state["freed"] - state["taken"]
    new = (state["fresh"] < SLOTS) & (waiting < WAITING)
    with k.when(new):
        page = state["fresh"] * 2 + 1
        start = _pointer(k, state["base"] + page * PAGE)
        refused = state.call("mprotect", "i32", start, length, k.constant("i32", READ | WRITE))
        k.give_if(refused.differs(0), 0)
        state["fresh"] = state["fresh"] + 1
        state.call("memset", "ptr", start, k.constant("i32", POISON), length)
        k.give(page)
        k.w.label(k.w.fresh_label())
    k.give_if(waiting.equals(0), 0)
    page = k.load("i64", state.pointer("queue"), state["taken"] & (SLOTS - 1))
    state["taken"] = state["taken"] + 1
    old = k.load("i64", state.owners(), page) ^ -1
    _poisoned(k, state, state["base"] + page * PAGE, length, old, _WHILE_FREE)
    k.give(page)
    return k


def _free_slot() -> Code:
    """Poison the slot of the array at ``place`` and put it in the queue."""
    k = Code("free_slot", ("ptr state", "i64 page", "i64 place"))
    state, page = _State(k, k["state"]), k["page"]
    size = k.load("i64", state.owners(), page)
    start, end = state["base"] + page * PAGE, k["place"] + size
    _poisoned(k, state, start, k["place"] - start, size, _BESIDE)
    _poisoned(k, state, end, start + PAGE - end, size, _BESIDE)
    length = k.constant("i64", PAGE)
    state.call("memset", "ptr", _pointer(k, start), k.constant("i32", POISON), length)
    k.store(size ^ -1, state.owners(), page)
    k.store(page, state.pointer("queue"), state["freed"] & (SLOTS - 1))
    state["freed"] = state["freed"] + 1
    k.give()
    return k


def _placed(state: _State, start: Value, length: Value | int, size: Value) -> Value:
    """The address of an array in its pages."""
    slack = size * -1 + length
    return start + state["edge"].equals(END).choose(slack, 0)


def _place() -> Code:
    """Allocate ``size`` bytes, which are poison, or zero if ``zeroed``; null if there is no
    memory.
    """
    k = Code("place", ("ptr state", "i64 size", "i1 zeroed"), "ptr")
    state, size = _State(k, k["state"]), k["size"]
    value = k["zeroed"].choose(k.constant("i32", 0), POISON)
    state["live"] = state["live"] + 1
    state["made"] = state["made"] + 1
    with k.when(size <= PAGE):
        slot = k.call("@take_slot", "i64", k["state"])
        with k.when(slot.differs(0)):
            k.store(size, state.owners(), slot)
            place = _pointer(k, _placed(state, state["base"] + slot * PAGE, PAGE, size))
            with k.when(k["zeroed"]):
                state.call("memset", "ptr", place, value, size)
            k.give(place)
            k.w.label(k.w.fresh_label())
    pages = _pages(size)
    first = k.call("@reserve", "i64", k["state"], pages)
    k.give_if(first.equals(0), lambda: _null(k))
    start, length = state["base"] + first * PAGE, pages * PAGE
    refused = state.call(
        "mprotect", "i32", _pointer(k, start), length, k.constant("i32", READ | WRITE)
    )
    k.give_if(refused.differs(0), lambda: _null(k))
    k.store(size, state.owners(), first)
    with k.loop(first + pages, first + 1) as page:
        k.store(k.constant("i64", -1), state.owners(), page)
    place = _pointer(k, _placed(state, start, length, size))
    with k.unless(k["zeroed"]):
        state.call("memset", "ptr", place, value, size)
    k.give(place)
    return k


def _at_least_one(size: Value) -> Value:
    return size.equals(0).choose(size.like(1), size)


def _malloc() -> Code:
    k = Code("malloc", ("ptr state", "i64 size"), "ptr")
    size = _at_least_one(k["size"])
    k.give(k.call("@place", "ptr", k["state"], size, k.constant("i1", 0)))
    return k


def _calloc() -> Code:
    k = Code("calloc", ("ptr state", "i64 count", "i64 each"), "ptr")
    size = _at_least_one(k["count"] * k["each"])
    k.give(k.call("@place", "ptr", k["state"], size, k.constant("i1", 1)))
    return k


def _realloc() -> Code:
    k = Code("realloc", ("ptr state", "ptr old", "i64 size"), "ptr")
    state = _State(k, k["state"])
    made = k.call("@malloc", "ptr", k["state"], k["size"])
    whole = _number(k, made).differs(0) & _number(k, k["old"]).differs(0)
    with k.when(whole):
        had = k.load("i64", state.owners(), _page_of(state, _number(k, k["old"])))
        state.call("memcpy", "ptr", made, k["old"], (had < k["size"]).choose(had, k["size"]))
        k.call("@free", "void", k["state"], k["old"], had)
    k.give(made)
    return k


def _free() -> Code:
    k = Code("free", ("ptr state", "ptr old", "i64 size"))
    state = _State(k, k["state"])
    with k.when(_number(k, k["old"]).differs(0)):
        first = _page_of(state, _number(k, k["old"]))
        state["live"] = state["live"] - 1
        with k.when(first < FIRST_PAGE):
            k.call("@free_slot", "void", k["state"], first, _number(k, k["old"]))
            k.give()
            k.w.label(k.w.fresh_label())
        # NumPy passes the size of the array now, which may differ from the size of its memory.
        size = k.load("i64", state.owners(), first)
        pages = _pages(size)
        state.call(
            "mmap", "ptr", _pointer(k, state["base"] + first * PAGE), pages * PAGE,
            *(k.constant("i32", each) for each in (NONE, _RESERVED | _FIXED, -1)),
            k.constant("i64", 0),
        )  # fmt: skip
        with k.loop(first + pages, first) as page:
            k.store(k.constant("i64", 0), state.owners(), page)
        k.store(size ^ -1, state.owners(), first)
    k.give()
    return k


# Reports


def _fault(place: int) -> Code:
    """Report an access to the arena, and restore the old action, which the access then meets."""
    k = Code("fault", ("i32 signal", "ptr info", "ptr context"))
    state = _State(k, _pointer(k, k.constant("i64", place)))
    address = k.load("i64", k.at(k["info"], _FAULT_AT))
    page = _page_of(state, address)
    with k.when((page < state["pages"]) & (page > 0)):
        ending, array = _found(k, state, page, address)
        _write(k, state, address, array, ending)
    state.call("sigaction", "i32", k.constant("i32", SIGNAL), state.pointer("old"), _null(k))
    k.give()
    return k


def _found(k: Code, state: _State, page: Value, address: Value) -> tuple[Value, Value]:
    """What an access to a page was, a number of an ending, and the size of the array."""

    def owner(at: Value) -> Value:
        return k.load("i64", state.owners(), at)

    ending, array = k.variable("i64", _FAR), k.variable("i64", page)
    here, before, after = owner(page), owner(page - 1), owner(page + 1)
    # Slots are at both sides of one guard page: the nearer one was left.
    first = (address & (PAGE // 2)).equals(0)
    past = _live(here) | _live(before) & (first | (after > 0) ^ 1)
    with k.when(past):
        ending.set(_live(here).choose(k.constant("i64", _WRITTEN), _PAST))
        array.set(_live(here).choose(page, page - 1))
        _back_to(k, state, array, lambda found: found > 0)
    with k.when((past ^ 1) & (after > 0)):
        ending.set(_BEFORE)
        array.set(page + 1)
    with k.unless(past | (after > 0)):
        _back_to(k, state, array, lambda found: found < -1)
        with k.when(owner(array.get()) < -1):
            ending.set(_FREED)
    size = owner(array.get())
    return ending.get(), (size < -1).choose(size ^ -1, size)


def _back_to(k: Code, state: _State, page: Variable, wanted: Callable[[Value], Value]) -> None:
    """Go back from ``page`` to one whose owner is ``wanted``, or to the first page."""
    left = k.variable("i64", _MOST_APART)

    def further() -> Value:
        found = wanted(k.load("i64", state.owners(), page.get()))
        return (found ^ 1) & (page.get() > 0) & (left.get() > 0)

    with k.while_(further):
        page.add(-1)
        left.add(-1)


def _write(k: Code, state: _State, address: Value, size: Value, ending: Value) -> None:
    text, line = state.pointer("text"), k.room("i8", len(_HEAD) + _LONGEST)
    head, longest = (k.constant("i64", each) for each in (len(_HEAD), _LONGEST))
    state.call("memcpy", "ptr", line, text, head)
    state.call("memcpy", "ptr", k.at(line, head), k.at(text, ending * _LONGEST + head), longest)
    digits = k.at(text, len(_HEAD) + _LONGEST * len(_ENDINGS))
    for at, number in ((_ADDRESS_AT, address), (_SIZE_AT, size)):
        for place in range(16):
            digit = number.shifted(60 - 4 * place) & 15
            k.store(k.load("i8", digits, digit), k.at(line, at + place))
    state.call("write", "i64", state["report"].cut("i32"), line, head + longest)
