"""The commands of a shader debugger at a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dp2emu.errors import Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.explain.shader_trace import ShaderTrace
from dp2emu.explain.stepping import Stepper, parse_condition
from dp2emu.explain.trace_registers import check_register
from dp2emu.explain.trace_text import (
    final_lines,
    heading,
    origin_lines,
    register_lines,
    step_lines,
)

HELP = """n [N]             do the next step, or N steps
b [N]             undo a step, or N steps
c                 go on to the next break, watch or the end
r                 go back to the previous break, watch or the start
g N               go to where N steps are done
l                 list the shader, with the current instruction marked
p [REGISTER]      print registers as they are now
break CONDITION   stop where it begins to hold, such as r0.x > 1 or r1.y:i == 3
watch REGISTER    stop after a write of a register
delete            remove all breaks and watches
nan               go to the first step that writes a NaN or an infinity
f                 show the outputs and what was stored
t [N]             list the traces, or change to trace N
q                 quit"""


class Prompt:
    """Answers commands about traces, one at a time.  Mutable: it has a position."""

    def __init__(self, traces: Sequence[ShaderTrace]) -> None:
        self._steppers = [Stepper(trace) for trace in traces]
        self._stepper = self._steppers[0]
        self.ended = False

    def start(self, breaks: Sequence[str], watches: Sequence[str]) -> Iterator[str]:
        """Set breaks and watches; returns the first lines.

        Raises UsageError for a bad break, or a register that none of the shaders has.
        """
        conditions = [parse_condition(text) for text in breaks]
        traces = [stepper.trace for stepper in self._steppers]
        for register in (*(each.register for each in conditions), *watches):
            check_register(register, traces)
        for stepper in self._steppers:
            stepper.breaks += conditions
            stepper.watches += watches
        yield from self._traces("") if len(self._steppers) > 1 else ()
        yield heading(self._stepper.trace)
        if breaks or watches:
            yield from self._run("")

    def answer(self, line: str) -> Iterator[str]:
        """The lines that answer a command; an error is a line as well."""
        word, _, rest = line.strip().partition(" ")
        if not word:
            return
        command = _COMMANDS.get(word)
        if command is None:
            yield f"no command {plain(word)[:40]}; help lists them"
            return
        try:
            yield from command(self, rest.strip())
        except Dp2Error as error:
            yield plain(str(error))

    # Commands

    def _next(self, rest: str) -> Iterator[str]:
        self._stepper.go(self._stepper.position + _count(rest))
        return self._here()

    def _back(self, rest: str) -> Iterator[str]:
        self._stepper.go(self._stepper.position - _count(rest))
        return self._here()

    def _go(self, rest: str) -> Iterator[str]:
        self._stepper.go(_count(rest, 0))
        return self._here()

    def _run(self, rest: str) -> Iterator[str]:
        reason = self._stepper.run()
        yield f"stopped: {plain(reason)}" if reason else "the end"
        yield from self._here()

    def _run_back(self, rest: str) -> Iterator[str]:
        reason = self._stepper.run_back()
        yield f"stopped: {plain(reason)}" if reason else "the start"
        yield from self._here()

    def _list(self, rest: str) -> Iterator[str]:
        step = self._stepper.step
        marked = None if step is None else step.line
        for number, line in enumerate(self._stepper.trace.disassembly):
            yield f"{'>' if number == marked else ' '} {plain(line)}"

    def _print(self, rest: str) -> Iterator[str]:
        found = {
            name: value
            for name, value in self._stepper.values.items()
            if not rest or rest in (name, name.rpartition(".")[0])
        }
        if rest and not found:
            raise UsageError(f"no register {rest:.40} has been read or written")
        return register_lines(found.values())

    def _break(self, rest: str) -> Iterator[str]:
        if rest:
            condition = parse_condition(rest)
            check_register(condition.register, [self._stepper.trace])
            self._stepper.breaks.append(condition)
        yield from (f"break {each.text}" for each in self._stepper.breaks)

    def _watch(self, rest: str) -> Iterator[str]:
        if rest:
            check_register(rest, [self._stepper.trace])
            self._stepper.watches.append(rest)
        yield from (f"watch {plain(each)}" for each in self._stepper.watches)

    def _delete(self, rest: str) -> Iterator[str]:
        self._stepper.breaks.clear()
        self._stepper.watches.clear()
        return iter(())

    def _nan(self, rest: str) -> Iterator[str]:
        step = self._stepper.trace.not_finite()
        if step is not None:
            self._stepper.go(step.number + 1)
        return origin_lines(self._stepper.trace)

    def _final(self, rest: str) -> Iterator[str]:
        return final_lines(self._stepper.trace.final)

    def _traces(self, rest: str) -> Iterator[str]:
        if rest:
            number = _count(rest, 0)
            if number >= len(self._steppers):
                raise UsageError(f"there are traces 0 to {len(self._steppers) - 1}")
            self._stepper = self._steppers[number]
        for number, each in enumerate(self._steppers):
            mark = ">" if each is self._stepper else " "
            yield f"{mark} {number} {heading(each.trace)}"

    def _quit(self, rest: str) -> Iterator[str]:
        self.ended = True
        return iter(())

    def _help(self, rest: str) -> Iterator[str]:
        return iter(HELP.splitlines())

    def _here(self) -> Iterator[str]:
        """The lines of the step that was done last."""
        step = self._stepper.step
        if step is None:
            return iter([heading(self._stepper.trace)])
        return step_lines(step)


def _count(text: str, usual: int = 1) -> int:
    """A number of steps.  Raises UsageError for another text."""
    if not text:
        return usual
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f"expected a number, got {text!r:.40}")
    return int(text)


_Command = Callable[[Prompt, str], Iterator[str]]
_COMMANDS: dict[str, _Command] = {
    "n": Prompt._next,
    "b": Prompt._back,
    "c": Prompt._run,
    "r": Prompt._run_back,
    "g": Prompt._go,
    "l": Prompt._list,
    "p": Prompt._print,
    "break": Prompt._break,
    "watch": Prompt._watch,
    "delete": Prompt._delete,
    "nan": Prompt._nan,
    "f": Prompt._final,
    "t": Prompt._traces,
    "q": Prompt._quit,
    "help": Prompt._help,
}
