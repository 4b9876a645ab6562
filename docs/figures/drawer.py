"""Draw the planned pull of the tutorial of the drawer; run with `.venv-robots/bin/python`."""

import tempfile
from pathlib import Path

import numpy as np

from alder.bench.articulated.case import Case
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.learned import law_dynamics
from alder.bench.articulated.planning import plain_pull, plan_pull
from alder.bench.articulated.store import Store
from alder.report.joints import pull_picture

TARGET = 0.52


def main() -> None:
    """Discover the law of one world, plan a pull with it, and draw what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab("drawer", Store(Path(folder)))
        case = Case(lab, "coulomb-01", seed=3, folder=Path(folder))
        assert case.found.law is not None
        model = law_dynamics(case.found.law)
        plan = plan_pull(lab, model, state=1, target=TARGET)
        pull = plain_pull(1, plan.first["pull"], round(plan.horizon))
        named = (("nominal", case.nominal), ("law", model), ("executed", case.truth))
        paths = {name: lab.move(pull, dynamics).rows[:, 0] for name, dynamics in named}
    seconds = 0.002 * np.arange(len(paths["law"]))
    picture = Path(__file__).with_name("drawer-pull.svg")
    picture.write_text(pull_picture(seconds, paths, TARGET), encoding="utf-8")


if __name__ == "__main__":
    main()
