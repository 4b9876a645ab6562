"""Calls into user code that end: by a result, by a reason, or by a time limit."""

import math
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar, final

from alder.errors import BadWorld
from alder.spelling import printable

T = TypeVar("T")

_LONGEST_REASON = 200


@final
@dataclass(frozen=True, slots=True)
class Guard:
    """What ends a run from outside: a time limit, and a question asked while it runs.

    `seconds` is the limit of one call into the world; `math.inf` means none. `abort` is asked
    every `every` seconds, and what it answers (a reason, or True) ends the run as a failed one:
    the place for an emergency stop. It must be quick and must not raise.

    In the main thread of a system with SIGALRM the call runs where it was made and is interrupted
    between two steps of Python; code that stays inside one long call to a C library is
    interrupted when that call returns. Elsewhere, the call runs in a thread of its own,
    which is abandoned when its time is over; no other run starts while it is still alive. With
    neither limit nor question the call is a plain one. A run that ends this way may leave an
    instrument in any state: `abort` does not replace a hardware stop.
    """

    seconds: float = 60.0
    abort: Callable[[], str | bool | None] | None = None
    every: float = 0.05

    def __post_init__(self) -> None:
        """Refuse limits that are no times."""
        for name in ("seconds", "every"):
            if not getattr(self, name) > 0:
                raise BadWorld(f"guard.{name} must be above zero; got {getattr(self, name)}.")

    @property
    def is_off(self) -> bool:
        """Whether nothing can end a run from outside."""
        return self.abort is None and math.isinf(self.seconds)


@final
@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """What user code returned."""

    value: T


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """Why user code returned nothing, in one line."""

    reason: str


Answer: TypeAlias = Returned[T] | Ended


class _Stopped(BaseException):
    """Ends user code from outside; no `except Exception` of it may catch this."""


@final
@dataclass(slots=True)
class Caller:
    """Calls user code one call at a time; remembers a thread that never came back."""

    guard: Guard
    _abandoned: threading.Thread | None = field(default=None, repr=False)

    def call(self, function: Callable[[], T]) -> Answer[T]:
        """Run user code to its result, or to the reason why there is none."""
        if self.guard.is_off:
            return _answer(function)
        deadline = time.monotonic() + self.guard.seconds
        if _can_interrupt():
            return self._call_here(function, deadline)
        return self._call_beside(function, deadline)

    def _reason_to_stop(self, deadline: float) -> str | None:
        answer = None if self.guard.abort is None else self.guard.abort()
        if answer:
            return f"stopped: {printable(answer)}" if isinstance(answer, str) else "stopped"
        if time.monotonic() >= deadline:
            return (
                f"took longer than {self.guard.seconds:g} s; "
                "allow more with guard=Guard(seconds=...)"
            )
        return None

    def _call_here(self, function: Callable[[], T], deadline: float) -> Answer[T]:
        stopped: list[str] = []

        def interrupt() -> None:
            reason = self._reason_to_stop(deadline)
            if reason is not None:
                stopped.append(reason)
                raise _Stopped

        try:
            with _alarm(interrupt, self._period()):
                answer = _answer(function)
        except _Stopped:
            return Ended(stopped[0])
        return Ended(stopped[0]) if stopped else answer

    def _call_beside(self, function: Callable[[], T], deadline: float) -> Answer[T]:
        if self._abandoned is not None:
            self._abandoned.join(min(self.guard.seconds, threading.TIMEOUT_MAX))
            if self._abandoned.is_alive():
                return Ended("not started: a run before it never returned and is still going on")
            self._abandoned = None
        answers: list[Answer[T]] = []
        thread = threading.Thread(target=lambda: answers.append(_answer(function)), daemon=True)
        thread.start()
        while True:
            thread.join(self._period())
            if not thread.is_alive():
                return answers[0] if answers else Ended("ended without a result")
            reason = self._reason_to_stop(deadline)
            if reason is not None:
                self._abandoned = thread
                return Ended(reason)

    def _period(self) -> float:
        """Return how often to look: as often as asked, or as the limit needs."""
        if self.guard.abort is not None:
            return min(self.guard.every, self.guard.seconds)
        # After the first alarm, code that swallowed it is interrupted again this often.
        return min(self.guard.seconds, 1.0)


def _answer(function: Callable[[], T]) -> Answer[T]:
    """Call user code; what it raises becomes a reason, Control-C excepted."""
    try:
        return Returned(function())
    except (Exception, SystemExit) as error:  # noqa: BLE001 (the one place around user code)
        return Ended(reason_of(error))


def reason_of(error: BaseException) -> str:
    """Say an exception in one line, without its traceback.

    >>> reason_of(ValueError("the valve is shut"))
    'ValueError: the valve is shut'
    """
    lines = str(error).strip().splitlines()
    words = printable(lines[0], _LONGEST_REASON) if lines else "no message"
    return f"{type(error).__name__}: {words}"


def _can_interrupt() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def _alarm(interrupt: Callable[[], None], period: float) -> Generator[None]:
    """Call `interrupt` every `period` seconds; put back whatever alarm was there before."""
    armed = True

    def handle(_number: int, _frame: object) -> None:
        if armed:
            interrupt()

    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, handle)
    rest, interval = signal.setitimer(signal.ITIMER_REAL, period, period)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if rest:
            left = max(rest - (time.monotonic() - began), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, interval)
