import numpy as np

from alder import fit
from alder.bench.odes.systems import given_law
from alder.records.shared import shared_terms

NAMES = ("x", "y")


def said(**equations: str) -> tuple[str, ...]:
    return shared_terms({name: given_law(name, text, NAMES) for name, text in equations.items()})


def test_what_flows_out_of_one_state_into_another_is_said_however_it_is_written() -> None:
    assert said(x="3 - 1.5*y*x^2/(1 + x)", y="1.5*x*(x*y)/(x + 1) - 2*y") == (
        "y*x^2/(1 + x) in dx_dt is also in dy_dt with the opposite sign.",
    )


def test_a_common_part_with_another_number_is_said_with_their_ratio() -> None:
    assert said(x="2*exp(-0.4*y)", y="x - 0.5*exp(-0.4*y)") == (
        "exp(-0.4*y) in dx_dt is also in dy_dt times -0.25.",
    )


def test_a_variable_alone_is_shared_only_with_the_same_number() -> None:
    assert said(x="2*x", y="3*x - y") == ()
    assert said(x="2*x", y="2*x - y") == ("x in dx_dt is also in dy_dt.",)
    assert said(x="exp(-0.4*y)", y="exp(-0.41*y)") == ()


def test_numbers_stand_where_laws_have_coefficients() -> None:
    rng = np.random.default_rng(0)
    rows = {"x": rng.uniform(0.5, 2.0, 60), "y": rng.uniform(0.5, 2.0, 60)}
    part = rows["x"] / (0.7371 + rows["y"])
    laws = {
        name: fit("a*x/(b + y)", {**rows, f"d{name}_dt": number * part}, target=f"d{name}_dt").law
        for name, number in (("x", 2.0), ("y", -3.0))
    }
    assert shared_terms(laws) == ("x/(0.7371 + y) in dx_dt is also in dy_dt times -1.5.",)
