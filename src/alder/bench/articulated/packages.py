"""The packages a robot needs, loaded by name: they live in an environment of their own."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from alder.errors import MissingExtra

PACKAGES = ("mujoco", "robosuite")

_ADVICE = (
    "`make robots` makes an environment that has it, .venv-robots; "
    "there, run `.venv-robots/bin/alder`."
)


def load_robots(module: str) -> Any:  # noqa: ANN401 (whatever the package is)
    """Return a module of MuJoCo or robosuite, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(f"The robot needs {module.partition('.')[0]}; {_ADVICE}") from None


def missing_packages() -> str | None:
    """Say in one sentence which package is missing; None where a robot can run."""
    for package in PACKAGES:
        if find_spec(package) is None:
            return f"The drawer and the door need {package}; {_ADVICE}"
    return None
