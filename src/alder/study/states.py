"""Discover equations of motion from sampled states: no derivatives, no experiments, a log."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadParameter
from alder.expr.nodes import Expr, parameters
from alder.expr.text import parse
from alder.fitting.delay import delayed
from alder.fitting.samples import Samples
from alder.fitting.smoothing import smooth
from alder.fitting.threads import limit_matrix_threads
from alder.kernel.solver import announce
from alder.proposers.states.excitation import unmoved_input, unmoved_state
from alder.proposers.states.finding import Found, Setting, find, find_delay
from alder.proposers.states.laws import laws_of
from alder.proposers.states.model import structures
from alder.proposers.states.sharing import shared_numbers
from alder.records.dynamics import Dynamics
from alder.records.grammar import require_operator
from alder.records.statesoutcome import RouteError, StatesOutcome
from alder.spelling import listed
from alder.study.conserving import quantity
from alder.study.logs import Reading, hold_back, read_samples
from alder.study.unfollowed import not_excited, not_followed
from alder.tables import Rows, require_columns
from alder.verification.claim import Claim
from alder.verification.held import follow
from alder.verification.vault import Vault

STATE_OPERATORS = (
    "add", "sub", "mul", "div", "pow", "powp", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs",
)  # fmt: skip
"""What laws of states may say unless told otherwise."""

Watch: TypeAlias = Callable[[str], object]

_EXAMPLES = {
    "states": '["x", "v"]',
    "inputs": '["u"]',
    "operators": '["add", "mul"]',
    "conserved": '["v**2 + x**2"]',
    "mirrored": '["x", "v"]',
}
_KEPT = 1e-6  # the share by which a conserved quantity may change: rounding and iteration


def discover_states(  # noqa: PLR0913 (a user's whole request in one call)
    rows: Rows,
    *,
    states: Sequence[str],
    time: str = "t",
    inputs: Sequence[str] = (),
    group: str | None = None,
    known: Mapping[str, str] | None = None,
    operators: Sequence[str] = STATE_OPERATORS,
    conserved: Sequence[str] = (),
    mirrored: Sequence[str] = (),
    discrete: bool = False,
    watch: Watch | None = None,
) -> StatesOutcome:
    """Find the equations of motion of states that were sampled, noisily and perhaps irregularly.

    Example: `alder.discover_states(log, states=["x", "v"], inputs=["u"], known={"x": "v"})`

    `inputs` act from outside; each value holds until the next sample. Their dead time is
    estimated, in whole sampling intervals. `group` names the column that tells trajectories apart;
    rows of one group belong together wherever they stand. `known` gives rates that are no
    question, as formulas of states and inputs. `conserved` are quantities of the states that
    no motion changes, such as `"v**2/2 - cos(x)"`; the laws keep them exactly or are refused.
    Turning the signs of all `mirrored` columns leaves the system as it is. With `discrete` the laws
    are those of the next sample, `x[k+1] = f(x[k], u[k])`, and `time` may be missing. `watch` is
    told what is done.

    One trajectory in four, or the last quarter of each where there are fewer than four, is held
    back from everything, in a process of its own. A system is admitted when it follows each of
    them to within the noise, from starts alone, without a pattern in what is left; otherwise the
    refusal says why. It is admitted for as long as they last: `horizon`.
    """
    announce()
    _require_lists(
        states=states, inputs=inputs, operators=operators, conserved=conserved, mirrored=mirrored
    )
    _require_question(states, operators, known or {})
    for name in operators:
        require_operator(name)
    setting = Setting(
        tuple(states),
        tuple(inputs),
        tuple(operators),
        {name: _rate(name, text, states, inputs) for name, text in (known or {}).items()},
        discrete=discrete,
        conserved=_kept(conserved, states, discrete=discrete),
        mirrored=tuple(mirrored),
    )
    require_columns(mirrored, setting.columns, where="states and inputs")
    read = read_samples(rows, setting, time, group)
    public, held = hold_back(read.samples)
    with Vault.hold(held) as vault, limit_matrix_threads(1), np.errstate(all="ignore"):
        kept = _Kept.of(vault, held)
        outcome = _Discovery(setting, public, kept, known or {}, watch or str).run()
    return _counted(outcome, read)


def claim_of(found: Found, delay: float = 0.0) -> Claim | None:
    """Return what is submitted; None where no solution of the system follows the samples."""
    shot, problem = found.shot, found.problem
    if shot is None or not shot.sound:
        return None
    rates, values = structures(found.model.picks, problem)
    return Claim(
        problem.columns, tuple(rates), values, shot.covariance, problem.sigma,
        max(shot.n_free, 1), delay, problem.discrete,
    )  # fmt: skip


def judge(found: Found, delay: float, vault: Vault) -> tuple[str, tuple[float, ...]]:
    """Say whether a system is admitted, "accept", or why it is not; errors if it is.

    What does not follow its own public samples, or changes what is conserved, is not submitted.
    """
    claim = claim_of(found, delay)
    if claim is None or found.shot is None:
        return "nothing", ()
    if found.change > _KEPT:
        return "changes", ()
    seen = follow(replace(claim, delay=0.0), found.shot.samples)
    if seen.finding in ("diverges", "missed", "patterned"):
        return "unexplained", ()
    return vault.trace(claim)


def spans_of(samples: Samples) -> FloatArray:
    """Return how long each trajectory lasts."""
    return samples.times[samples.firsts[1:] - 1] - samples.times[samples.firsts[:-1]]


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """What is known outside the vault of what it holds: how much, and how long."""

    vault: Vault
    n_samples: int
    span: float
    shortest: float

    @staticmethod
    def of(vault: Vault, held: Samples) -> "_Kept":
        """Return what may be known of samples that lie in a vault."""
        spans = spans_of(held)
        return _Kept(vault, len(held.times), float(spans.max()), float(spans.min()))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Discovery:
    """One discovery: public samples, held-back ones, and what is asked."""

    setting: Setting
    public: Samples
    kept: _Kept
    known: Mapping[str, str]
    watch: Watch

    def run(self) -> StatesOutcome:
        """Look at what was excited, find a system, and follow what was held back."""
        sigma, near = self._noise()
        table = np.concatenate([near, self.public.inputs], axis=1)
        columns, n_states = self.setting.columns, len(self.setting.states)
        still = unmoved_state(columns, near, sigma, self.public) or unmoved_input(
            columns, n_states, table, sigma
        )
        if still is not None:
            return StatesOutcome({}, None, not_excited(still, self.setting.inputs))
        if self.setting.inputs:
            self.watch("comparing dead times")
        delay = find_delay(self.public, self.setting, self.kept.shortest)
        self.watch("searching terms and fitting them by shooting")
        found = find(delayed(self.public, delay), self.setting)
        self.watch("following what was held back")
        return self._end(found, delay, *judge(found, delay, self.kept.vault))

    def _noise(self) -> tuple[FloatArray, FloatArray]:
        if self.setting.discrete:
            return 1e-9 * np.abs(self.public.states).max(axis=0), self.public.states
        smoothed = smooth(self.public)
        return smoothed.sigma, smoothed.values()

    def _end(
        self, found: Found, delay: float, finding: str, error: tuple[float, ...]
    ) -> StatesOutcome:
        """Return the outcome, with what was found either way."""
        states, discrete = self.setting.states, self.setting.discrete
        targets = tuple(f"{name}_next" if discrete else f"d{name}_dt" for name in states)
        laws, admitted = laws_of(found, targets), finding == "accept"
        followed = self.kept.span - delay  # samples before the first input arrives are left out
        verified = followed if admitted else None
        return StatesOutcome(
            laws,
            None if discrete else Dynamics(laws, dict(self.known), delay, verified),
            None if admitted else not_followed(finding, found),
            noise=dict(zip(states, found.problem.sigma.tolist(), strict=True)),
            error=dict(zip(states, error, strict=True)) if error else {},
            delay=delay,
            horizon=followed,
            spread=dict(zip(states, self.public.states.std(axis=0).tolist(), strict=True)),
            shared=shared_numbers(found.model, targets),
            route=found.route,
            routes=tuple(
                RouteError(c.route, len(c.model.picks), float(c.validation))
                for c in found.candidates
            ),
            n_held_back=self.kept.n_samples,
            commitments=self.kept.vault.commitments(),
        )


def _counted(outcome: StatesOutcome, read: Reading) -> StatesOutcome:
    """Say in an outcome what was read, and what was left out."""
    return replace(
        outcome,
        n_samples=len(read.samples.times),
        n_trajectories=read.samples.n_segments,
        n_incomplete=read.n_incomplete,
        n_short=read.n_short,
        n_gaps=read.n_gaps,
    )


def _require_lists(**wishes: object) -> None:
    """Refuse one text where a list is asked for: its letters would be taken for the names."""
    for name, value in wishes.items():
        if isinstance(value, str):
            raise BadParameter(
                f"`{name}` is a list, also of one, such as {name}={_EXAMPLES[name]}; it is the "
                f'text "{value}".'
            )


def _require_question(states: Sequence[str], operators: Sequence[str], known: object) -> None:
    """Refuse a wish that leaves no rate to be found, or nothing to say it with."""
    if not isinstance(known, Mapping):
        raise BadParameter('Known rates are a mapping, such as {"x": "v"}; it is something else.')
    if not states:
        raise BadParameter(
            'No state is named; name one or more states, such as states=["x", "v"] or --state x,v.'
        )
    if not operators:
        raise BadParameter(
            '`operators` is empty, so that no law can be said; name some, such as "add" and "mul", '
            "or leave it out."
        )
    if set(states) <= set(cast("Mapping[str, str]", known)):
        raise BadParameter(
            f"Every rate is known, of {', '.join(states)}, so that nothing is asked; leave out the "
            "one that is to be found."
        )


def _rate(name: str, text: str, states: Sequence[str], inputs: Sequence[str]) -> Expr:
    if name not in states:
        raise BadParameter(f"`{name}` has a known rate but is no state; {listed(states)}.")
    expr = parse(text, (*states, *inputs))
    if parameters(expr):
        raise BadParameter(
            f"The known rate of `{name}` uses `{parameters(expr)[0]}`, which is no state or input."
        )
    return expr


def _kept(texts: Sequence[str], states: Sequence[str], *, discrete: bool) -> tuple[Expr, ...]:
    if texts and discrete:
        raise BadParameter(
            "A conserved quantity needs rates; laws of the next sample have none. Leave out "
            "`conserved`, or `discrete`."
        )
    return tuple(quantity(text, states) for text in texts)
