r"""What a law must show on protected rows, frozen before the first proposal.

Every test returns a p-value: how often a law that is right would look worse. The improvement test
is the other way round: how often a law that is no better than the reference would look better.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.consistency import Errors, Whitening, chi_square_p
from alder.errors import BadStudy
from alder.ports import Criterion
from alder.records.law import Law
from alder.verification.own import OwnCriterion, describe
from alder.verification.structure import neighbour_p, polynomial_p, signed_rank_p


@final
@dataclass(frozen=True, slots=True)
class Thresholds:
    """Fixed limits, for benchmarks that define them.

    NMSE is the sum of squared errors over that around the rows' own mean. `improvement` is the
    share of the reference's squared error a law must remove.
    """

    admission_nmse: float
    shift_nmse: float | None = None
    improvement: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Criteria:
    """What is asked of a law.

    `level` is the chance of refusing a law that is right, over all tests and roles together.
    `improvement` is the share of the reference's squared error a law must remove. `max_nodes` is
    the largest structure. `vague` is the largest standard error of the prediction, from
    coefficients alone, in units of the target's spread, in the median and in the mean square over
    the rows of each role; it counts only above the noise. Errors whose NMSE lies below `negligible`
    are rounding. `balanced_accuracy` is asked of laws of events. With `thresholds` the tests
    against the noise give way to fixed limits.

    `own` are criteria of the study's own, each a `Criterion` or the name of a plug-in; a law must
    pass them after all others, on the rows of every role. `level` does not speak for them.
    """

    level: float = 0.02
    improvement: float = 0.05
    max_nodes: int = 127
    vague: float = 0.1
    negligible: float = 1e-12
    balanced_accuracy: float = 0.9
    thresholds: Thresholds | None = None
    own: Sequence[str | Criterion | OwnCriterion] = ()

    def __post_init__(self) -> None:
        """Describe own criteria, and refuse settings that can never or always be met."""
        own = (self.own,) if isinstance(self.own, str) else self.own
        described = [one if isinstance(one, str | OwnCriterion) else describe(one) for one in own]
        object.__setattr__(self, "own", tuple(described))
        if not 0.0 < self.level < 1.0:
            raise BadStudy(f"criteria.level lies between 0 and 1; got {self.level}.")
        if not 0.0 <= self.improvement < 1.0:
            raise BadStudy(f"criteria.improvement lies between 0 and 1; got {self.improvement}.")
        if self.max_nodes < 1:
            raise BadStudy(f"criteria.max_nodes must be at least 1; got {self.max_nodes}.")

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values; `own` only where there is one, as it always was."""
        settings = {
            part.name: getattr(self, part.name)
            for part in dataclasses.fields(self)
            if part.name not in ("thresholds", "own")
        }
        settings["thresholds"] = None if self.thresholds is None else asdict(self.thresholds)
        own = [one if isinstance(one, str) else asdict(cast("Any", one)) for one in self.own]
        return settings | ({"own": own} if own else {})

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "Criteria":
        """Read what `to_json` wrote."""
        limits = value["thresholds"]
        settings: dict[str, Any] = dict(value)
        settings["thresholds"] = None if limits is None else Thresholds(**limits)
        own: list[str | dict[str, str]] = settings.get("own", [])
        settings["own"] = [one if isinstance(one, str) else OwnCriterion(**one) for one in own]
        return Criteria(**settings)

    @property
    def described(self) -> tuple[OwnCriterion, ...]:
        """Own criteria; raise `BadStudy` where one is still a name."""
        names = [one for one in self.own if isinstance(one, str)]
        if names:
            raise BadStudy(
                f"The criterion `{names[0]}` is a name, which only a study resolves; give the "
                "criterion itself here."
            )
        return tuple(one for one in self.own if isinstance(one, OwnCriterion))

    @property
    def digest(self) -> str:
        """SHA-256 of the settings; part of a study's configuration."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """The simple rule a law must beat: the mean of the public rows, or a line through them."""

    mean: float
    slopes: Mapping[str, float] = dataclasses.field(default_factory=dict[str, float])

    def predict(self, columns: Mapping[str, FloatArray], n_rows: int) -> FloatArray:
        """Return what the rule says for each row."""
        total = np.full(n_rows, self.mean)
        for name, slope in self.slopes.items():
            total = total + slope * columns[name]
        return total

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON values."""
        return {"mean": self.mean, "slopes": dict(self.slopes)}


def linear_reference(
    rows: Mapping[str, FloatArray], names: tuple[str, ...], target: str
) -> Reference:
    """Fit a line to public rows by least squares.

    A law is admitted only where it beats the reference: give this one where a straight line would
    be no discovery.
    """
    J = np.stack([np.ones(len(rows[target])), *(rows[name] for name in names)], axis=1)
    values, *_ = np.linalg.lstsq(J, rows[target], rcond=None)
    return Reference(float(values[0]), dict(zip(names, map(float, values[1:]), strict=True)))


def with_doubt(errors: Errors, law: Law) -> Errors:
    """Widen noise that was estimated in two parts: how it splits is known far worse than its size.

    Public rows may hold no small prediction, so that the additive part rests on nothing and comes
    out as zero. Stated noise then counts as at least half its median, and its degrees of freedom
    as a quarter. Measured with additive noise hidden below 10 % proportional noise: without this
    18 % of true laws were refused under a shift to small predictions, with it 1 %.
    """
    if law.noise.proportional == 0.0 or errors.df is None:
        return errors
    noise = np.maximum(errors.noise, 0.5 * float(np.median(errors.noise)))
    spread = errors.spread * (errors.noise / noise)[:, None]
    return dataclasses.replace(errors, noise=noise, spread=spread, df=max(errors.df // 4, 1))


def improvement_p(errors: Errors, reference: FloatArray, share: float) -> float:
    r"""Return how often a law that removes less than a share of the error would look this good.

    $$d_i = (1 - m)\,(y_i - r_i)^2 - (y_i - f_i)^2$$

    $r$ is the reference and $m$ the share. Wilcoxon's signed-rank test of $d > 0$: ranks, so that a
    few huge rows decide nothing.
    """
    y = errors.error + errors.prediction
    d = (1.0 - share) * np.square(y - reference) - np.square(errors.error)
    return signed_rank_p(d)


def removes_share(errors: Errors, reference: FloatArray, share: float) -> bool:
    """Say whether the mean squared error falls by at least a share of the reference's."""
    y = errors.error + errors.prediction
    return float(np.mean(np.square(errors.error))) <= (1.0 - share) * float(
        np.mean(np.square(y - reference))
    )


def consistency_p(errors: Errors, columns: Mapping[str, FloatArray]) -> float:
    r"""Return how often errors of a law that holds would be as large, or as regular.

    Four tests, the smallest p-value times four. $\chi^2$ against the noise the law states; and
    three that do not believe it, since a law that is wrong everywhere states a large one:
    regression of the whitened errors on polynomials of the inputs, the same on ranks of the errors,
    and likeness of the errors of neighbouring rows.
    """
    if errors.df is not None and errors.df < 1:
        return 0.0  # as many coefficients as rows: nothing is known about the noise
    white = Whitening.of(errors)
    z = white.apply(errors.z)
    tests = (
        chi_square_p(errors),
        polynomial_p(z, columns, errors.at_rows, white, errors.placed),
        polynomial_p(_normal_scores(z), columns, errors.at_rows, white, errors.placed),
        neighbour_p(_normal_scores(z), columns, errors.placed),
    )
    return min(1.0, len(tests) * min(tests))


def is_negligible(errors: Errors, limit: float) -> bool:
    """Say whether errors are rounding, both in the mean and in the median."""
    y = errors.error + errors.prediction
    squares = np.square(errors.error)
    spread = np.square(y - np.median(y))
    return bool(
        np.mean(squares) <= limit * np.mean(spread)
        and np.median(squares) <= limit * np.median(spread)
    )


def is_vague(errors: Errors, limit: float) -> bool:
    """Say whether coefficients are so badly known that predictions say little.

    In the median, or in the mean square: a law that is sure of most rows and of nothing about the
    far ones would be consistent with whatever is seen there.
    """
    y = errors.error + errors.prediction
    unsure, noise = errors.coefficient_error, errors.noise
    quartiles = np.quantile(y, [0.25, 0.75])
    middle = float(quartiles[1] - quartiles[0]) / 1.349
    in_median = float(np.median(unsure)) > limit * middle and np.median(unsure / noise) > 1.0
    in_mean = _rms(unsure) > limit * float(np.std(y)) and _rms(unsure) > _rms(noise)
    return bool(in_median or in_mean)


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def nmse(errors: Errors) -> float:
    """Return the sum of squared errors over that around the mean."""
    y = errors.error + errors.prediction
    around = float(np.sum(np.square(y - y.mean())))
    return float(np.sum(np.square(errors.error))) / max(around, 1e-300)


def balanced_accuracy(log_odds: FloatArray, happened: FloatArray) -> float:
    """Return the mean of the shares of events and of non-events that are told right."""
    said = log_odds > 0.0
    hits = np.where(said == (happened > 0.5), 1.0, 0.0)
    outcomes = [rows for rows in (happened > 0.5, happened <= 0.5) if rows.any()]
    return float(np.mean([float(np.mean(hits[rows])) for rows in outcomes]))


def _normal_scores(z: FloatArray) -> FloatArray:
    """Replace values by the normal quantiles of their ranks."""
    from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

    ranks = np.argsort(np.argsort(z, kind="stable"), kind="stable")
    scores: FloatArray = ndtri((ranks + 0.5) / len(z))
    return scores
