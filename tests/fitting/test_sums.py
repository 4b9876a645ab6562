"""Fits to targets that are sums of the law over several rows."""

from dataclasses import replace

import numpy as np
import pytest
from fitting.bodies import newton, scenes, screened
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.expr.evaluate import evaluate
from alder.expr.text import parse
from alder.fitting import fit, fit_many
from alder.fitting.crossvalidation import held_out_error
from alder.fitting.residuals import find_misfits
from alder.fitting.standing import judge
from alder.records.budget import Budget
from alder.records.effort import FULL
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.segments import Segments

VARIABLES = (Variable("r"), Variable("m"))
GRAMMAR = Grammar(VARIABLES, Variable("a"))


def random_rows(sizes: list[int], seed: int) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    o = rng.permutation(np.repeat(np.arange(float(len(sizes))), sizes))
    y, sigma, group = (rng.normal(size=len(sizes)), rng.uniform(0.5, 2.0, len(sizes)),
                       rng.integers(0, 3, len(sizes)).astype(float))  # fmt: skip
    place = o.astype(int)
    return {
        "r": rng.uniform(0.5, 3.0, len(o)),
        "m": rng.normal(size=len(o)),
        "o": o,
        "a": y[place],
        "s": sigma[place],
        "g": group[place],
    }


SIZES = st.lists(st.integers(1, 5), min_size=8, max_size=20)


@settings(max_examples=25)
@given(SIZES, st.integers(0, 100), st.booleans(), st.booleans())
def test_a_linear_fit_is_least_squares_on_the_sums(
    sizes: list[int], seed: int, weighed: bool, grouped: bool
) -> None:
    rows = random_rows(sizes, seed)
    found = fit_many(
        ["c1*m + c2*r^2 + c3"], rows, target="a", variables=VARIABLES, sums="o",
        sigma="s" if weighed else None, group="g" if grouped else None, jobs=1,
    )  # fmt: skip
    segments = Segments.of(rows["o"])
    terms = np.stack([rows["m"], rows["r"] ** 2, np.ones(len(rows["r"]))], axis=1)
    y, s, g = (segments.first(rows[name]) for name in ("a", "s", "g"))
    root = 1.0 / s if weighed else np.ones(len(y))
    columns = segments.total(terms)
    if grouped:  # one offset per group, offsets whose weighted mean is zero
        member = (g[:, None] == np.unique(g)).astype(float)
        total = np.square(root) @ member
        free = member[:, 1:] - member[:, :1] * total[1:] / total[0]
        columns = np.concatenate([columns, free], axis=1)
    design = columns * root[:, None]
    c, *_ = np.linalg.lstsq(design, y * root, rcond=None)
    least = float(np.sum(np.square(y * root - design @ c)))
    assert found.loss[0] * len(sizes) == pytest.approx(least, rel=1e-6, abs=1e-12)


@settings(max_examples=15)
@given(SIZES, st.integers(0, 100))
def test_the_loss_is_that_of_the_coefficients_found(sizes: list[int], seed: int) -> None:
    rows = random_rows(sizes, seed)
    law = parse("k*m*exp(-r/L) + c", ["r", "m"])
    found = fit_many(
        [law], rows, target="a", variables=VARIABLES, sums="o", bounds={"L": (0.3, 5.0)},
        effort=FULL, jobs=1,
    )  # fmt: skip
    segments = Segments.of(rows["o"])
    said = segments.total(evaluate(law, rows, found.values(0)))
    error = segments.first(rows["a"]) - said
    assert found.loss[0] == pytest.approx(float(np.mean(np.square(error))), rel=1e-6)


def test_observations_of_one_row_are_an_ordinary_fit() -> None:
    rows = random_rows([1] * 40, 3)
    law = "k*m*exp(-r/L) + c"
    one = fit(law, rows, target="a", variables=VARIABLES, sums="o")
    plain = fit(law, rows, target="a", variables=VARIABLES)
    assert one.loss == pytest.approx(plain.loss, rel=1e-9)
    np.testing.assert_allclose(one.covariance, plain.covariance, rtol=1e-3)
    assert one.residual_df == plain.residual_df


def test_an_observation_may_be_longer_than_a_block_of_the_kernel() -> None:
    rng = np.random.default_rng(0)
    o = np.repeat(np.arange(12.0), 700)
    r = rng.uniform(0.5, 3.0, len(o))
    total = Segments.of(o).total(3.0 * np.exp(-r / 0.7))
    found = fit("k*exp(-r/L)", {"r": r, "o": o, "a": total[o.astype(int)]}, target="a", sums="o")
    assert found.values == pytest.approx({"k": 3.0, "L": 0.7}, rel=1e-9)


@pytest.mark.parametrize("n_bodies", [3, 4])
def test_a_law_of_pairs_is_found_from_sums(n_bodies: int) -> None:
    power = fit("k*m*r^p", scenes(newton, 12, n_bodies), target="a", sums="o")
    assert power.values == pytest.approx({"k": 2.0, "p": -2.0}, rel=1e-9)
    rows = scenes(screened, 12, n_bodies)
    found = fit("k*m*r^p*exp(-r/L)", rows, target="a", sums="o")
    assert found.values == pytest.approx({"k": 2.0, "p": -2.0, "L": 1.5}, rel=1e-8)
    assert found.n_rows == 12 * n_bodies * (n_bodies - 1)
    assert found.residual_df == 12 * n_bodies - 3


def test_the_order_of_rows_does_not_matter() -> None:
    rows = scenes(screened, 12, 3, noise=0.05)
    order = np.random.default_rng(0).permutation(len(rows["a"]))
    mixed = {name: column[order] for name, column in rows.items()}
    one, other = (fit("k*m*r^p", t, target="a", sums="o") for t in (rows, mixed))
    assert one.values == pytest.approx(other.values, rel=1e-6)
    assert one.noise.additive == pytest.approx(other.noise.additive, rel=1e-6)


def test_noise_is_that_of_a_sum_and_intervals_cover() -> None:
    n, covered = 80, 0
    noise: list[float] = []
    for seed in range(n):
        rows = scenes(newton, 16, 3, noise=0.05, seed=seed)
        found = fit("k*m*r^p", rows, target="a", variables=VARIABLES, sums="o", effort=FULL)
        noise.append(found.noise.additive)
        k, p = found.coefficients
        covered += (k.lower <= 2.0 <= k.upper) + (p.lower <= -2.0 <= p.upper)
    assert 0.88 <= covered / (2 * n) <= 0.995  # 95 % in the long run
    assert np.mean(noise) == pytest.approx(0.05, rel=0.05)


def test_a_sum_that_misses_a_term_is_left_out() -> None:
    rows = scenes(newton, 12, 3)
    r = rows["r"].copy()
    r[0] = np.nan
    found = fit("k*m*r^p", {**rows, "r": r}, target="a", sums="o")
    assert found.values == pytest.approx({"k": 2.0, "p": -2.0}, rel=1e-9)
    assert found.n_rows == len(r) - 2


def test_what_belongs_to_a_sum_is_the_same_on_each_of_its_rows() -> None:
    rows = scenes(newton, 12, 3)
    odd = rows["a"].copy()
    odd[0] += 1.0
    with pytest.raises(BadTable, match="must share `a`"):
        fit("k*m*r^p", {**rows, "a": odd}, target="a", sums="o")
    with pytest.raises(BadTable, match="must share `s`"):
        fit("k*m*r^p", {**rows, "s": np.abs(odd) + 1.0}, target="a", sums="o", sigma="s")


def test_events_are_no_sums() -> None:
    rows = {**scenes(newton, 12, 3)}
    rows["a"] = (rows["o"] % 2.0).astype(float)
    with pytest.raises(BadTable, match="no sums"):
        fit("k*m*r^p", rows, target="a", sums="o", objective="events")


def test_a_law_holds_or_breaks_on_new_sums() -> None:
    public, new = (scenes(newton, 24, 3, noise=0.05, seed=seed) for seed in (1, 2))
    law = fit("k*m*r^p", public, target="a", sums="o").law
    wide = replace(law, scope=replace(law.scope, ranges={}))
    standing = judge(wide, new, sums="o")
    assert standing.holds
    assert standing.n_judged == 72
    assert not judge(wide, scenes(screened, 24, 3, noise=0.05, seed=3), sums="o").holds
    assert not judge(wide, new).holds  # a pair alone is not its sum
    narrow = replace(law, scope=replace(law.scope, ranges={"r": (1.0, 9.0)}))
    judged = judge(narrow, new, sums="o").n_judged
    inside = Segments.of(new["o"]).total((new["r"] < 1.0).astype(float)) == 0.0
    assert judged == int(inside.sum())


def test_what_a_wrong_law_leaves_over_is_seen_along_the_mean_of_the_rows() -> None:
    rows = scenes(newton, 60, 3, noise=0.02)
    wrong, right = (fit(law, rows, target="a", sums="o") for law in ("k*m/r", "k*m*r^p"))
    assert find_misfits(wrong, rows, ("r", "m"), "o")
    assert find_misfits(right, rows, ("r", "m"), "o") == ()


def test_whole_observations_are_left_out_for_the_error_on_new_rows() -> None:
    rows = scenes(newton, 20, 3, noise=0.05)
    evidence = Evidence(GRAMMAR, Roles(sums="o"), Budget(), Trajectory(rows))
    proposal = Proposal(parse("k*m*r^p", ["r", "m"]))
    values = fit(proposal, rows, target="a", sums="o").values
    left_out = held_out_error(proposal, values, evidence)
    assert left_out is not None
    y = Segments.of(rows["o"]).first(rows["a"])
    assert left_out.nmse == pytest.approx(0.05**2 / y.var(), rel=0.5)
    held = Trajectory(scenes(newton, 20, 3, seed=5))
    exact = held_out_error(proposal, {"k": 2.0, "p": -2.0}, replace(evidence, validation=held))
    assert exact is not None
    assert exact.nmse < 1e-20


def test_experiments_may_number_their_observations_alike() -> None:
    first, second = (scenes(newton, 6, 3, seed=seed) for seed in (1, 2))
    roles = Roles(sums="o")
    evidence = Evidence(
        GRAMMAR, roles, Budget(), Trajectory(first), trajectories=(Trajectory(second, "e1"),)
    )
    rows = evidence.rows()
    assert len(np.unique(rows["o"])) == 36
    found = fit("k*m*r^p", rows, target="a", sums="o")
    assert found.values == pytest.approx({"k": 2.0, "p": -2.0}, rel=1e-9)
