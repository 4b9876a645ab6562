"""Misses where targets are sums over rows."""

import numpy as np
from fitting.bodies import newton, scenes

from alder.fitting import fit
from alder.records.budget import Budget
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.report.measure import yardstick
from alder.segments import Segments

ROWS = scenes(newton, 24, 4, noise=0.05)
GRAMMAR = Grammar([Variable("r"), Variable("m")], Variable("a"))


def test_every_row_is_measured_by_the_sum_it_belongs_to() -> None:
    evidence = Evidence(GRAMMAR, Roles(sums="o"), Budget(), Trajectory(ROWS))
    law = fit("k*m*r^p", ROWS, target="a", sums="o").law
    unit = yardstick(law, evidence)
    segments = Segments.of(ROWS["o"])
    brute = [float(np.sum(law.predict(ROWS)[ROWS["o"] == name])) for name in ROWS["o"]]
    np.testing.assert_allclose(unit.predict(law, ROWS), brute, rtol=1e-12)
    for z in (unit.residuals(law, ROWS), unit.misses(law, ROWS)):
        assert segments.agree(z)
        assert 0.8 < float(np.sqrt(np.mean(np.square(z)))) < 1.2


def test_a_row_alone_is_measured_as_such() -> None:
    law = fit("k*m*r^p", ROWS, target="a", sums="o").law
    unit = yardstick(law, Evidence(GRAMMAR, Roles(sums="o"), Budget(), Trajectory(ROWS)))
    pair = {"r": np.array([1.0, 2.0]), "m": np.ones(2)}
    np.testing.assert_allclose(unit.predict(law, pair), law.predict(pair))
