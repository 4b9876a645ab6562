"""One function for every export."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, assert_never

from alder.errors import BadParameter
from alder.export.c import to_c
from alder.export.jax import to_jax
from alder.export.python import to_python
from alder.export.sympy import to_latex_text, to_sympy_code
from alder.records.law import Law
from alder.spelling import suggestion

Format: TypeAlias = Literal["latex", "sympy", "python", "c", "jax"]
FORMATS: tuple[Format, ...] = ("latex", "sympy", "python", "c", "jax")


def export(law: Law, to: Format) -> Mapping[str, str]:
    """Return the files of an export: file name to text.

    C has two files, `law.h` and `law.c`; every other format has one.
    """
    files: dict[str, str]
    if to not in FORMATS:
        raise BadParameter(
            f"`{to}` is not an export; {', '.join(FORMATS)} are.{suggestion(to, FORMATS)}"
        )
    match to:
        case "latex":
            files = {"law.tex": to_latex_text(law)}
        case "sympy":
            files = {"law_sympy.py": to_sympy_code(law)}
        case "python":
            files = {"law.py": to_python(law)}
        case "c":
            header, source = to_c(law)
            files = {"law.h": header, "law.c": source}
        case "jax":
            files = {"law_jax.py": to_jax(law)}
        case _:
            assert_never(to)
    return MappingProxyType(files)
