"""A system of equations as it is submitted to be followed along held-back samples."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import MalformedLaw
from alder.expr.json import from_json, to_json
from alder.expr.nodes import Expr
from alder.fitting.flows import Flow


@final
@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """One structure for each state, its numbers with their covariance, and the noise assumed.

    `columns` name the states, then the inputs. `covariance` is in the order of the parameters of
    `flow`; directions that the public samples leave open have none. `n_free` is the number of
    free residuals from which `sigma` is known. Inputs arrive `delay` late.
    """

    columns: tuple[str, ...]
    rates: tuple[Expr, ...]
    values: Mapping[str, float]
    covariance: FloatArray
    sigma: FloatArray
    n_free: int
    delay: float = 0.0
    discrete: bool = False

    def flow(self) -> tuple[Flow, FloatArray]:
        """Return the system as something that moves, and its numbers in their order."""
        flow = Flow.of(self.rates, self.columns, discrete=self.discrete)
        return flow, np.array([self.values[name] for name in flow.parameters])

    def text(self) -> str:
        """Return the claim as one line of JSON."""
        content = {
            "columns": list(self.columns),
            "rates": [to_json(rate) for rate in self.rates],
            "values": dict(self.values),
            "covariance": [[_or_none(c) for c in row] for row in self.covariance.tolist()],
            "sigma": self.sigma.tolist(),
            "n_free": self.n_free,
            "delay": self.delay,
            "discrete": self.discrete,
        }
        return json.dumps(content, sort_keys=True, allow_nan=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @staticmethod
    def read(text: str) -> "Claim":
        """Read what `text` returns; raise `MalformedLaw` where it is something else."""
        try:
            file: dict[str, Any] = json.loads(text)
            n = len(file["values"])
            return Claim(
                tuple(map(str, file["columns"])),
                tuple(from_json(rate) for rate in file["rates"]),
                {str(name): float(value) for name, value in file["values"].items()},
                np.array(
                    [[np.inf if c is None else c for c in row] for row in file["covariance"]],
                    dtype=np.float64,
                ).reshape(n, n),
                np.array(file["sigma"], dtype=np.float64).reshape(len(file["rates"])),
                int(file["n_free"]),
                float(file["delay"]),
                bool(file["discrete"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise MalformedLaw("What was submitted is no system of equations.") from None


def _or_none(number: float) -> float | None:
    """JSON has no infinity: what is not known at all is left out."""
    return number if np.isfinite(number) else None
