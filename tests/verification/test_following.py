import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.bench.odes.systems import given_law
from alder.consistency import errors_of
from alder.records.dynamics import Dynamics
from alder.verification.following import followed
from alder.verification.stability import is_stable


def motion(*equations: str) -> Dynamics:
    names = tuple(f"x_{i}" for i in range(len(equations)))
    return Dynamics({n: given_law(n, e, names) for n, e in zip(names, equations, strict=True)})


def trajectories(truth: Dynamics, starts: list[list[float]]) -> dict[str, FloatArray]:
    times = np.linspace(0.0, 2.0, 15)
    paths = [truth.rollout(dict(zip(truth.states, s, strict=True)), times) for s in starts]
    columns = {name: np.concatenate([p[name] for p in paths]) for name in truth.states}
    return {**columns, "t": np.tile(times, len(starts))}


@pytest.mark.parametrize(
    ("equations", "category"),
    [
        (("x_1", "-2.1*x_0"), "accept"),
        (("x_1", "-2.1*x_0 + 0.01*x_1"), "inaccurate"),
        (("x_1", "-2.1*x_0 + 40*x_0^3"), "unstable"),
    ],
)
def test_equations_are_followed_along_whole_trajectories(
    equations: tuple[str, str], category: str
) -> None:
    rows = trajectories(motion("x_1", "-2.1*x_0"), [[1.0, 0.0], [0.3, -0.8]])
    assert followed(motion(*equations), rows, "t", 1e-9) == category


def test_a_pole_that_no_trajectory_passes_is_none_of_the_laws_faults() -> None:
    side = np.linspace(0.5, 1.5, 20)
    t = np.linspace(0.0, 1.0, 20)
    law = given_law("x_0", "1/x_0", ("x_0",))
    rows = {"x_0": np.concatenate([side, -side]), "t": np.concatenate([t, t])}
    rows["dx_0_dt"] = law.predict(rows)
    errors = errors_of(law, rows)
    assert is_stable(law, rows, errors, "t")
    assert not is_stable(law, rows, errors)
