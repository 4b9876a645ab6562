"""Criteria of a study's own: described in the harness, made and run inside the vault.

The vault is another process and takes no pickle, so a criterion travels as a description: what to
import, and the settings to make it with. The description is part of the terms, and so of a study's
configuration; a digest of the code goes with it, so that a criterion cannot change under a study.
"""

import dataclasses
import hashlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadStudy, VerifierFailed
from alder.ports import Criterion
from alder.records.law import Law


@final
@dataclass(frozen=True, slots=True)
class OwnCriterion:
    """What the vault needs to make a criterion.

    `maker` is "module:name" of a class, or of a function that returns a criterion; `settings` are
    its keyword arguments as JSON text; `code` is the SHA-256 of the file it is written in.
    """

    name: str
    maker: str
    settings: str = "{}"
    code: str = ""


def named(name: str, maker: str) -> OwnCriterion:
    """Describe a criterion that is made without settings; raise `BadStudy` where it is none."""
    made = make(OwnCriterion(name, maker))
    return OwnCriterion(name, maker, code=code_of(maker.partition(":")[0], type(made).__module__))


def describe(criterion: Criterion) -> OwnCriterion:
    """Describe a criterion given as a value; raise `BadStudy` where the vault could not make it.

    A value can be made again where its class can be imported, and its state is none, or that of a
    dataclass whose fields are numbers, text, booleans and tuples of them.
    """
    made_by = type(criterion)
    if not isinstance(cast("object", criterion), Criterion):
        raise BadStudy(
            f"A {made_by.__name__} is no criterion: it has no method `violated`. Give an object "
            "that has one, or the name of a plug-in."
        )
    maker = f"{made_by.__module__}:{made_by.__qualname__}"
    why = _unreachable(made_by)
    if not why:
        why, settings = _settings(criterion)
        if not why:
            text = json.dumps(settings, sort_keys=True, allow_nan=False)
            return OwnCriterion(made_by.__name__, maker, text, code_of(made_by.__module__))
    raise BadStudy(
        f"The criterion {made_by.__name__} cannot be given to the vault, a process of its own: "
        f"{why}. Make it a dataclass of numbers and text in a module of its own, or a plug-in, and "
        "give that or its name."
    )


def make(own: OwnCriterion) -> Criterion:
    """Import and make a criterion; raise `BadStudy` where that fails or the code is another."""
    module, _, path = own.maker.partition(":")
    try:
        found: object = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        settings = {name: _tupled(value) for name, value in json.loads(own.settings).items()}
        made: object = cast("Any", found)(**settings)
    except Exception as error:  # noqa: BLE001 (user code; its message might quote anything)
        raise BadStudy(
            f"The criterion `{own.name}` cannot be made from {own.maker}: {type(error).__name__}. "
            "Its module must be importable without the current directory."
        ) from None
    if own.code and code_of(module, type(made).__module__) != own.code:
        raise BadStudy(
            f"The criterion `{own.name}` changed while the study began: {module} is not the file "
            "it was. Begin again."
        )
    if not isinstance(made, Criterion):
        raise BadStudy(
            f"{own.maker} makes a {type(made).__name__}, which is no criterion: it has no method "
            "`violated`."
        )
    return made


def is_violated(
    own: OwnCriterion,
    criterion: Criterion,
    law: Law,
    rows: Mapping[str, FloatArray],
    role: str,
) -> bool:
    """Ask a criterion; raise `VerifierFailed` where it raises or does not answer.

    What it raised is named by its class alone: a message might quote a protected value.
    """
    try:
        answer: object = criterion.violated(law, dict(rows), role)
    except Exception as error:  # noqa: BLE001 (user code)
        raise VerifierFailed(
            f"The criterion `{own.name}` raised {type(error).__name__} on a law, so nothing about "
            "the law is known; check it with `alder.testing.check_criterion` and begin again."
        ) from None
    if type(answer) not in (bool, np.bool_):
        raise VerifierFailed(
            f"The criterion `{own.name}` answered with a {type(answer).__name__}; True or False is "
            "expected."
        )
    return bool(answer)


def folder_of(own: OwnCriterion) -> str | None:
    """Return the folder from which the module of a criterion was imported here, if it was."""
    module = own.maker.partition(":")[0]
    file = _file(module)
    return None if file is None else str(file.parents[_depth(module)])


def code_of(*modules: str) -> str:
    """Return the SHA-256 of the files of imported modules; empty where one has none."""
    files = [_file(module) for module in sorted(set(modules))]
    found = [file.read_bytes() for file in files if file is not None]
    return hashlib.sha256(b"".join(found)).hexdigest() if len(found) == len(files) else ""


def _file(module: str) -> Path | None:
    name = getattr(sys.modules.get(module), "__file__", None)
    file = Path(str(name)).absolute()
    return file if name is not None and file.is_file() else None


def _depth(module: str) -> int:
    """Count the folders between the import path and the file of a module."""
    is_package = hasattr(sys.modules[module], "__path__")
    return module.count(".") + (1 if is_package else 0)


def _unreachable(made_by: type) -> str:
    """Say why a class cannot be imported by its name; nothing where it can."""
    name = made_by.__name__
    if made_by.__module__ == "__main__":
        return f"{name} is defined in the program that runs, which cannot be imported"
    found: object = sys.modules.get(made_by.__module__)
    for part in made_by.__qualname__.split("."):
        found = getattr(found, part, None)
    return "" if found is made_by else f"{name} is no top-level name of {made_by.__module__}"


def _settings(criterion: object) -> tuple[str, dict[str, object]]:
    """Return why the state cannot be written down, or nothing, and the state."""
    if dataclasses.is_dataclass(criterion) and not isinstance(criterion, type):
        fields = [part for part in dataclasses.fields(criterion) if part.init]
        settings = {part.name: getattr(criterion, part.name) for part in fields}
        odd = [name for name, value in settings.items() if not _is_plain(value)]
        why = f"`{odd[0]}` is a {type(settings[odd[0]]).__name__}" if odd else ""
        return why, settings
    state = getattr(criterion, "__dict__", {}) or getattr(type(criterion), "__slots__", ())
    return ("it has a state but is no dataclass" if state else ""), {}


def _is_plain(value: object) -> bool:
    match value:
        case None | bool() | int() | str():
            return True
        case float():
            return math.isfinite(value)
        case tuple():
            return all(map(_is_plain, cast("tuple[object, ...]", value)))
        case _:
            return False


def _tupled(value: object) -> object:
    """Give back the tuples that JSON turned into lists."""
    if isinstance(value, list):
        return tuple(map(_tupled, cast("list[object]", value)))
    return value
