"""Queries, predication and command lists of Direct3D 10 and 11."""

from __future__ import annotations

from dp2emu.capture.records import Observed
from dp2emu.retrace.arguments import Arguments, flattened, integer
from dp2emu.retrace.d3d11.objects import (
    CONTEXT,
    CONTEXTS,
    QUERIES10,
    bind_found,
    bind_new,
    context_of,
    context_row,
    needed,
    number_of,
    on_context,
    optional,
    owner_of,
    perform,
)
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
from dp2emu.runtime10.codes import Result
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.deferred import CommandList, DeferredContext, ListContext
from dp2emu.runtime10.objects import Predicate, Query

# Predication


@on_context(CONTEXTS, "SetPredication")
def set_predication(context: Context, call: Arguments) -> None:
    """Sets the predicate of the next draws."""
    predicate = call.optional("pPredicate", Predicate)
    context.set_predication(predicate, bool(call.integer("PredicateValue")))


@on_context(CONTEXTS, "GetPredication")
def get_predication(context: Context, call: Arguments) -> None:
    """Nothing for the driver: the address means the predicate that is set."""
    bind_found(call, call.placed(1), [context.get_predication()[0]])


# Queries

context_row(CONTEXT, "Begin", "Begins a query.", Context.begin, needed("pAsync", Query))
context_row(CONTEXT, "End", "Ends a query.", Context.end, needed("pAsync", Query))


@method(QUERIES10, "Begin")
def begin_query(program: Program, call: Arguments) -> None:
    """Begins a query."""
    query = call.thing("this", Query)
    perform(program, call, owner_of(query).context, lambda context, call: context.begin(query))


@method(QUERIES10, "End")
def end_query(program: Program, call: Arguments) -> None:
    """Ends a query."""
    query = call.thing("this", Query)
    perform(program, call, owner_of(query).context, lambda context, call: context.end(query))


@method(QUERIES10, "GetData", failing=True)
def get_query_data(program: Program, call: Arguments) -> None:
    """An observation, if the program received an answer."""
    query = call.thing("this", Query)
    _observe(program, call, owner_of(query).context, query)


@method(CONTEXT, "GetData", failing=True)
def get_data(program: Program, call: Arguments) -> None:
    """An observation, if the program received an answer."""
    query = optional("pAsync", Query)(call)
    if query is not None:
        _observe(program, call, context_of(call), query)


_S_FALSE = 1
_DWORD = 0xFFFF_FFFF


def _observe(program: Program, call: Arguments, context: Context, query: Query) -> None:
    size, hr = call.integer("DataSize"), call.result & _DWORD
    if hr == _S_FALSE:
        return
    put, driver = program.recorder.put, query.driver
    # Memory of a failed call is not recorded; with a right size only NULL is an invalid argument.
    null = hr == Result.E_INVALIDARG and size == driver.data_size
    refusal = driver.refusal(size, size > 0 and not null)
    if isinstance(context, DeferredContext):
        refusal = context.get_data(query, size).hr
    if refusal is not None:
        put(Observed(call.number, 0, 0, int(refusal)))
        return
    data = b""
    if size and call.has("pData"):
        data = driver.kind.layout.pack(*map(integer, flattened(call.value("pData"))))
    put(Observed(call.number, 0, number_of(program, query.memory), hr, data))


inert(f"{QUERIES10} ID3D11Query ID3D11Predicate ID3D11Asynchronous", "GetDataSize", NO_EFFECT)
inert("ID3D10Query ID3D10Predicate ID3D11Query ID3D11Predicate", "GetDesc GetDesc1", NO_EFFECT)


# Command lists


@on_context(CONTEXT, "FinishCommandList")
def finish_command_list(context: Context, call: Arguments) -> None:
    """Ends a command list."""
    deferred = call.thing("this", DeferredContext)
    made = deferred.finish_command_list(bool(call.integer("RestoreDeferredContextState")))
    if call.has("ppCommandList"):
        bind_new(call, "ppCommandList", made)


@on_context(CONTEXT, "ExecuteCommandList")
def execute_command_list(context: Context, call: Arguments) -> None:
    """Makes the driver's calls of a command list."""
    commands = needed("pCommandList", CommandList)(call)
    restored = bool(call.integer("RestoreContextState"))
    call.thing("this", ListContext).execute_command_list(commands, restored)


for _interfaces, _name in ((CONTEXTS, "Flush"), (CONTEXT, "Flush1")):
    context_row(_interfaces, _name, "Sends what is recorded to the GPU.", Context.flush)
inert(CONTEXT, "SetHardwareProtectionState GetHardwareProtectionState", "Nothing is protected.")
