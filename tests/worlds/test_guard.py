# User code has no types, and neither has what these tests pass for it.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Calls into user code that end."""

import signal
import threading
import time
from collections.abc import Callable

import pytest

from alder.errors import BadWorld
from alder.worlds.guard import Answer, Caller, Ended, Guard, Returned


def in_a_thread(function: Callable[[], object]) -> object:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_outside_the_main_thread_a_result_comes_back_too() -> None:
    assert in_a_thread(lambda: Caller(Guard()).call(lambda: 3)) == Returned(3)


def test_outside_the_main_thread_a_hang_is_abandoned_and_nothing_starts_beside_it() -> None:
    let_go = threading.Event()
    caller = Caller(Guard(seconds=0.05))
    calls: list[int] = []

    def hang_then_call() -> tuple[Answer[object], Answer[object]]:
        return caller.call(let_go.wait), caller.call(lambda: calls.append(1))

    try:
        first, second = in_a_thread(hang_then_call)  # type: ignore[misc]
        assert isinstance(first, Ended)
        assert "took longer" in first.reason
        assert second == Ended("not started: a run before it never returned and is still going on")
        assert calls == []
    finally:
        let_go.set()


def test_after_an_abandoned_run_has_returned_the_next_one_starts() -> None:
    let_go = threading.Event()
    caller = Caller(Guard(seconds=0.05))

    def hang_then_call() -> Answer[int]:
        caller.call(let_go.wait)
        let_go.set()
        return caller.call(lambda: 4)

    assert in_a_thread(hang_then_call) == Returned(4)


def test_without_limits_a_call_stays_in_its_thread() -> None:
    caller = Caller(Guard(seconds=float("inf")))
    here = in_a_thread(lambda: caller.call(threading.get_ident) == Returned(threading.get_ident()))
    assert here is True


def test_the_alarm_that_was_there_before_is_put_back() -> None:
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        assert Caller(Guard()).call(lambda: time.monotonic()) != Ended("")
        signal.sigtimedwait([], 0.2)
        assert rang == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_limit_that_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(BadWorld, match="above zero"):
        Guard(seconds=seconds)
