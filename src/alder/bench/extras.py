"""Packages that only rivals in a benchmark need, loaded by name: none of them says its types."""

from importlib import import_module
from typing import Any

from alder.errors import MissingExtra


def load_rival(module: str) -> Any:  # noqa: ANN401 (whatever the package is)
    """Return a module of the extra `bench`, or say how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            f"This method needs {module.partition('.')[0]}; install it with "
            '`pip install "alder[bench]"`.'
        ) from None
