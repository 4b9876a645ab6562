"""The gate of systems found in a log: what follows held-back samples, and what only seems to."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot, shoot
from alder.verification.claim import Claim
from alder.verification.held import follow
from alder.verification.motions import hold, pack_held, trace
from alder.verification.vault import Vault

COLUMNS = ("x", "v")
SIGMA = np.array([0.01, 0.02])


def swings(starts: Sequence[Sequence[float]], seed: int, *, stop: float = 1e9) -> Samples:
    """Record a pendulum whose speed a stop cuts off."""
    rng, dt, every = np.random.default_rng(seed), 0.01, 4
    found: list[tuple[FloatArray, FloatArray]] = []
    for start in starts:
        x, v = start
        path = [(x, v)]
        for _ in range(40 * every - 1):
            middle = np.clip(v - 0.5 * dt * 9.0 * np.sin(x), -stop, stop)
            x = x + dt * middle
            v = float(np.clip(middle - 0.5 * dt * 9.0 * np.sin(x), -stop, stop))
            path.append((x, v))
        states = np.array(path)[::every]
        noisy = states + SIGMA * rng.normal(size=states.shape)
        found.append((np.linspace(0.0, 1.56, len(states)), noisy))
    return Samples.of(found)


def fitted(rate: str, public: Samples) -> tuple[Claim, Shot]:
    """Fit the numbers of one structure to public samples, and claim it."""
    rates = (parse("v", COLUMNS), parse(rate, COLUMNS))
    flow = Flow.of(rates, COLUMNS)
    begin = np.array([-9.0, *np.zeros(len(flow.parameters) - 1)])
    shot = shoot(flow, public, begin, public.start_rows(), SIGMA)
    values = dict(zip(flow.parameters, shot.values.tolist(), strict=True))
    return Claim(COLUMNS, rates, values, shot.covariance, SIGMA, shot.n_free), shot


SMALL = [(0.5, 0.0), (-0.8, 0.3), (0.2, 1.0), (0.9, -0.5), (-0.3, 0.8)]
WIDE = [(2.4, 0.0), (-2.0, 1.0), (1.0, 2.0), (-2.6, 0.5), (0.4, 3.0)]
OTHERS = [(2.2, -0.5), (-1.2, 2.2), (2.7, 0.2)]


def test_a_true_law_is_admitted_on_fresh_trajectories() -> None:
    claim, _ = fitted("a*sin(x)", swings(WIDE, 0))
    seen = [follow(claim, swings(OTHERS, seed)).finding for seed in range(1, 9)]
    assert seen == ["accept"] * 8


def test_a_law_that_imitates_a_stop_by_many_terms_is_refused() -> None:
    # Speeds beyond the stop are cut off, which no sum of smooth terms says.
    many = "a*sin(x) + b*v + c*v^3 + d*sin(v) + e*v*abs(v) + f*x*v^2 + g*x^3 + h*x*abs(x)"
    claim, shot = fitted(many, swings(WIDE, 0, stop=3.6))
    assert shot.sound
    for seed in range(1, 4):
        assert follow(claim, swings(OTHERS, seed, stop=3.6)).finding != "accept"


def test_one_trajectory_that_differs_is_enough_to_refuse() -> None:
    claim, _ = fitted("a*sin(x)", swings(WIDE, 0))
    good = swings([*SMALL, *SMALL], 5)
    other = swings([(2.9, 0.0)], 6, stop=3.0)
    mixed = Samples.of(
        [
            (part.times[part.rows_of(s)], part.states[part.rows_of(s)])
            for part in (good, other)
            for s in range(part.n_segments)
        ]
    )
    assert follow(claim, good).finding == "accept"
    assert follow(claim, mixed).finding == "missed"


def test_a_small_error_with_a_pattern_in_time_is_no_noise() -> None:
    claim, _ = fitted("a*sin(x)", swings(WIDE, 0))
    off = Claim(COLUMNS, claim.rates, {"a": -8.6}, np.zeros((1, 1)), 3.0 * SIGMA, claim.n_free)
    seen = follow(off, swings(SMALL, 3))
    assert seen.missed < 1.0
    assert seen.finding == "patterned"


def test_numbers_that_are_left_open_verify_nothing() -> None:
    claim, _ = fitted("a*sin(x)", swings(SMALL, 0))
    loose = Claim(
        claim.columns, claim.rates, claim.values, claim.covariance * 1e6, claim.sigma, claim.n_free
    )
    assert follow(loose, swings(OTHERS, 1)).finding == "undetermined"


def test_a_number_that_nothing_determined_verifies_nothing_where_it_takes_part() -> None:
    claim, _ = fitted("a*sin(x)", swings(WIDE, 0))
    rates = (claim.rates[0], parse("a*sin(x) + b*x^3", COLUMNS))
    held = swings(OTHERS, 1)

    def finding(b: float) -> str:
        C = np.diag([claim.covariance[0, 0], np.inf])
        values = {**claim.values, "b": b}
        told = Claim(COLUMNS, rates, values, C, SIGMA, claim.n_free)
        assert Claim.read(told.text()).digest == told.digest
        return follow(Claim.read(told.text()), held).finding

    assert finding(3e-3) == "undetermined"
    assert finding(1e-7) == "unseen"  # no sample would notice


def test_a_term_that_held_back_samples_never_meet_is_not_verified() -> None:
    """A narrow bump takes up one bad sample, and says anything it likes in between."""
    claim, _ = fitted("a*sin(x)", swings(SMALL, 0))
    rates = (claim.rates[0], parse("a*sin(x) + b*exp(-1000*(x - 1.9)^2)", COLUMNS))
    C = np.diag([claim.covariance[0, 0], 1e-4])
    bump = Claim(COLUMNS, rates, {**claim.values, "b": 50.0}, C, SIGMA, claim.n_free)
    assert follow(claim, swings(SMALL, 1)).finding == "accept"
    assert follow(bump, swings(SMALL, 1)).finding == "unseen"
    assert follow(bump, swings(WIDE, 1)).finding != "accept"


def test_equations_that_run_away_are_called_unstable_not_wrong() -> None:
    rates = (parse("v", COLUMNS), parse("a*x^5", COLUMNS))
    claim = Claim(COLUMNS, rates, {"a": 40.0}, np.zeros((1, 1)), SIGMA, 100)
    assert follow(claim, swings(OTHERS, 1)).finding == "diverges"


def test_a_claim_is_read_as_it_was_written() -> None:
    claim, _ = fitted("a*sin(x)", swings(SMALL, 0))
    again = Claim.read(claim.text())
    assert again.digest == claim.digest
    assert again.rates == claim.rates


@pytest.mark.parametrize("text", ["", "{}", '{"columns": 1}', "[1]", '{"values": {}}'])
def test_what_is_no_claim_is_answered_as_invalid(text: str) -> None:
    state = hold(pack_held(swings(SMALL, 0)))
    after, answer = trace(state, text.encode())
    assert answer.header["finding"] == "invalid"
    assert after.answered == ""


def test_a_claim_that_cannot_be_followed_is_the_one_that_was_answered() -> None:
    """Else what goes wrong, such as an input too late for every sample, would tell of them."""
    claim, _ = fitted("a*sin(x)", swings(WIDE, 0))
    packed = pack_held(swings(OTHERS, 1))
    state, first = trace(hold(packed), replace(claim, delay=1e9).text().encode())
    assert first.header["finding"] == "diverges"
    _, second = trace(state, claim.text().encode())
    assert second.header["finding"] == "budget-spent"


def test_the_vault_answers_one_claim_and_tells_errors_of_an_admission_only() -> None:
    claim, _ = fitted("a*sin(x)", swings(WIDE, 0))
    wrong = Claim(COLUMNS, claim.rates, {"a": -7.0}, np.zeros((1, 1)), SIGMA, 100)
    with Vault.hold(swings(OTHERS, 1)) as vault:
        assert vault.commitments()[0].n_rows == 120
        finding, errors = vault.trace(claim)
        assert finding == "accept"
        assert errors == pytest.approx(SIGMA, rel=0.3)
        assert vault.trace(claim) == (finding, errors)
        assert vault.trace(wrong) == ("budget-spent", ())
    with Vault.hold(swings(OTHERS, 1)) as vault:
        assert vault.trace(wrong) == ("missed", ())
