"""What a benchmark is: cases, methods, a way to measure them, and figures made of the rows."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias, final

from alder.errors import BadStudy
from alder.spelling import suggestion

Row: TypeAlias = dict[str, Any]
"""One case measured with one method, as JSON values. A failed one has an `error`."""

Settings: TypeAlias = Mapping[str, Any]
"""The seed and the options of a benchmark, as JSON values."""


@final
@dataclass(frozen=True, slots=True)
class Job:
    """What a worker measures at one go: a case with some methods. Ledgers go to `folder`."""

    case: str
    methods: tuple[str, ...]
    settings: Settings
    folder: Path


@final
@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: cases, the usual ones first; methods; options with their usual values.

    `home` is the module that holds it as `BENCHMARK`, where workers find it. `measure` yields one
    row for each method of a job, in the order of `methods`. `figures` turns the rows of one method
    into numbers, `table` all rows into the lines that are printed. `require` raises `BadStudy` for
    settings that mean nothing, before anything is measured. `missing` says in one sentence why a
    method cannot be measured on this computer, and None where it can. `usual` names the methods
    that settings ask for; without it, they are all. `missing_case` says in one sentence why a case
    cannot be measured on this computer. `listed` names the cases of settings that name a list of
    the user's own.
    """

    name: str
    home: str
    cases: Sequence[str]
    default_cases: str
    methods: Sequence[str]
    measure: Callable[[Job], Iterator[Row]]
    figures: Callable[[Sequence[Row]], Mapping[str, float]]
    table: Callable[[Sequence[Row], Mapping[str, Mapping[str, float]]], Sequence[str]]
    options: Settings = field(default_factory=dict[str, Any])
    require: Callable[[Settings], object] = len
    missing: Callable[[str, Settings], str | None] = lambda _method, _settings: None
    usual: Callable[[Settings], Sequence[str]] | None = None
    missing_case: Callable[[str], str | None] = lambda _case: None
    listed: Callable[[Settings], Sequence[str]] | None = None

    def of(self, settings: Settings) -> "Benchmark":
        """Return the benchmark with the cases that these settings have."""
        return self if self.listed is None else replace(self, cases=tuple(self.listed(settings)))


def choose_cases(benchmark: Benchmark, pattern: str | None) -> tuple[str, ...]:
    """Return the cases a pattern means: globs separated by commas, or a number: the first so many.

    Example: `choose_cases(benchmark, "stress-*,iid-01?")`
    """
    wanted = pattern or benchmark.default_cases
    if re.fullmatch(r"[1-9]\d*|0", wanted):  # 07 is a name, 7 a number
        n_cases = int(wanted)
        if not 1 <= n_cases <= len(benchmark.cases):
            raise BadStudy(
                f"`--cases {wanted}`: {benchmark.name} has {len(benchmark.cases)} cases; "
                "ask for at least 1 and at most as many."
            )
        return tuple(benchmark.cases[:n_cases])
    globs = [glob.strip() for glob in wanted.split(",")]
    for glob in globs:
        if not any(fnmatchcase(case, glob) for case in benchmark.cases):
            raise BadStudy(
                f"`--cases {glob}` matches no case of {benchmark.name}; "
                f"{benchmark.cases[0]} is one.{suggestion(glob, benchmark.cases)}"
            )
    return tuple(case for case in benchmark.cases if any(fnmatchcase(case, g) for g in globs))


def choose_methods(
    benchmark: Benchmark, wanted: Sequence[str] | None, settings: Settings | None = None
) -> tuple[str, ...]:
    """Return the methods asked for in the benchmark's own order; all that there are without a wish.

    Settings may say which there are.
    """
    known = benchmark.methods
    if benchmark.usual is not None and settings is not None:
        known = benchmark.usual(settings)
    for method in wanted or ():
        if method not in known:
            raise BadStudy(
                f"`{method}` is not a method of {benchmark.name}; "
                f"{', '.join(known)} are.{suggestion(method, tuple(known))}"
            )
    return tuple(m for m in benchmark.methods if m in known and (not wanted or m in wanted))


def without_missing(
    benchmark: Benchmark, methods: Sequence[str], settings: Settings
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the methods that can be measured here, and why others cannot."""
    return _present(benchmark, {one: benchmark.missing(one, settings) for one in methods})


def without_missing_cases(
    benchmark: Benchmark, cases: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cases that can be measured here, and why others cannot."""
    return _present(benchmark, {case: benchmark.missing_case(case) for case in cases})


def _present(
    benchmark: Benchmark, why: Mapping[str, str | None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kept = tuple(name for name, said in why.items() if said is None)
    sentences = tuple(dict.fromkeys(said for said in why.values() if said is not None))
    if not kept:
        raise BadStudy(f"Nothing of {benchmark.name} can be measured here: {' '.join(sentences)}")
    return kept, sentences


def choose_settings(benchmark: Benchmark, seed: int, given: Settings) -> dict[str, Any]:
    """Return the seed and the options, the usual values where none is given."""
    for name in given:
        if name not in benchmark.options:
            raise BadStudy(
                f"`--{name}` is no option of {benchmark.name}; "
                f"{', '.join(f'--{n}' for n in benchmark.options) or 'it has none of its own'}."
            )
    settings = {"seed": seed, **benchmark.options, **given}
    benchmark.require(settings)
    return settings
