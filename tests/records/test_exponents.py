"""A law whose exponent was read off the rows counts what is not known of it."""

import numpy as np

import alder
from alder.arrays import FloatArray

RNG = np.random.default_rng(5)


def rows_of(n: int, low: float, high: float, rng: np.random.Generator) -> dict[str, FloatArray]:
    r = rng.uniform(low, high, n)
    return {"r": r, "a": 3.0 * (r + 0.4) ** -1.9 + rng.normal(0.0, 0.03, n)}


def law_of(
    exponents: tuple[float, ...], rng: np.random.Generator, power: float = -2.0
) -> alder.Law:
    structure = alder.parse(f"k*(r + s)^{power:g}", ["r"])
    proposal = alder.Proposal(structure, exponents=exponents)
    return alder.fit(proposal, rows_of(150, 0.6, 1.6, rng), target="a").law


def test_intervals_are_wider_where_the_exponent_is_no_theory() -> None:
    rng = np.random.default_rng(5)
    far = {"r": np.linspace(2.0, 4.0, 9)}
    given, read = law_of((), np.random.default_rng(5)), law_of((-2.0,), rng)
    assert np.array_equal(given.predict(far), read.predict(far))
    assert (read.standard_error(far) > 2.0 * given.standard_error(far)).all()
    truth = 3.0 * (far["r"] + 0.4) ** -1.9
    lower, upper = read.predict_interval(far, noise=False)
    assert ((lower < truth) & (truth < upper)).all()


def test_intervals_of_a_law_with_a_read_off_exponent_cover() -> None:
    far = {"r": np.array([2.5])}
    truth = 3.0 * (far["r"] + 0.4) ** -1.9
    covered = 0
    for seed in range(60):
        # The exponent that the rows ask for, rounded to two decimals as a proposer would.
        rng = np.random.default_rng(seed)
        rows = rows_of(150, 0.6, 1.6, rng)
        free = alder.fit("k*(r + s)^p", rows, target="a")
        structure = alder.parse(f"k*(r + s)^{round(free.values['p'], 2)}", ["r"])
        proposal = alder.Proposal(structure, exponents=(round(free.values["p"], 2),))
        lower, upper = alder.fit(proposal, rows, target="a").law.predict_interval(far, noise=False)
        covered += int(lower[0] < truth[0] < upper[0])
    assert covered >= 51  # 95 % of 60 is 57; 51 is three binomial deviations below


def test_exponents_survive_file_and_ledger_and_old_laws_keep_their_digests() -> None:
    from alder.ledger.coding import law_from_json, law_to_json, proposal_from_json, proposal_to_json

    law = law_of((-2.0,), RNG)
    assert law_from_json(law_to_json(law)) == law
    assert "exponents" not in law_to_json(law_of((), RNG))
    proposal = alder.Proposal(law.structure, exponents=(-2.0, 7.0))
    assert proposal.exponents == (-2.0,)  # seven is no exponent of this law
    assert proposal_from_json(proposal_to_json(proposal)) == proposal


def test_a_verifier_makes_allowance_for_a_read_off_exponent_and_not_for_a_given_one() -> None:
    rng = np.random.default_rng(11)
    protected = alder.Protected(
        admission=rows_of(300, 0.5, 2.0, rng), shift=rows_of(4000, 2.0, 4.0, rng)
    )
    initial = rows_of(150, 0.6, 1.6, np.random.default_rng(5))
    given, read = law_of((), np.random.default_rng(5)), law_of((-2.0,), np.random.default_rng(5))
    assert not alder.verify(given, protected, public=initial).accepted
    assert alder.verify(read, protected, public=initial).accepted


def test_a_law_says_how_well_its_exponents_are_known() -> None:
    (one,) = law_of((-2.0,), np.random.default_rng(5)).exponent_estimates
    assert one.name == "exponent -2"
    assert one.lower < -2.0 < one.upper
    assert law_of((), np.random.default_rng(5)).exponent_estimates == ()
