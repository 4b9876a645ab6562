import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from alder.export.c import to_c
from alder.expr.text import parse
from alder.records.law import Law
from export.laws import (
    NAMES,
    assert_agrees,
    law_divided_by_a_root_of_zero,
    law_of,
    law_of_a_vanishing_power,
    random_law,
    random_rows,
)

N_LAWS = 120
OWN = re.compile(r"\b(law_in_scope|law|sat|away|clipped|positive|flushed)\(")

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def compile_laws(laws: Sequence[Law], folder: Path) -> ctypes.CDLL:
    """Compile many laws into one shared object, as law_0, law_1, ...; warnings are errors."""
    merged: list[str] = []
    for number, law in enumerate(laws):
        _, source = to_c(law)
        merged.append(OWN.sub(rf"\1_{number}(", source.replace('#include "law.h"\n', "")))
    (folder / "laws.c").write_text("\n".join(merged))
    flags = ["-O2", "-std=c99", "-Wall", "-Werror", "-fPIC", "-shared"]
    command = ["cc", *flags, "laws.c", "-lm", "-o", "laws.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "laws.so"))


def call(
    law: Law, function: "ctypes._NamedFuncPointer", rows: dict[str, np.ndarray]
) -> list[float]:
    columns = [rows[variable.name] for variable in law.variables]
    function.argtypes = [ctypes.c_double] * len(columns)
    n_rows = len(next(iter(rows.values())))
    return [function(*(float(c[i]) for c in columns)) for i in range(n_rows)]


@needs_compiler
def test_the_c_functions_agree_with_evaluate_and_in_scope(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    laws = [random_law(rng, 1 + number % 31) for number in range(N_LAWS - 2)]
    laws += [law_of_a_vanishing_power(), law_divided_by_a_root_of_zero()]
    library = compile_laws(laws, tmp_path)
    n_compared = 0
    for number, law in enumerate(laws):
        rows = random_rows(rng, 10)
        function = library[f"law_{number}"]
        function.restype = ctypes.c_double
        n_compared += assert_agrees(law, rows, np.array(call(law, function, rows)))
        guard = call(law, library[f"law_in_scope_{number}"], rows)
        assert guard == law.in_scope(rows).astype(int).tolist()
    assert n_compared > 0.9 * 10 * N_LAWS


@needs_compiler
def test_source_and_header_compile_as_they_are_written(tmp_path: Path) -> None:
    law = law_of(parse("k*r^p - c*tanh(θ)/exp(r)", NAMES), {"k": 2.0, "p": -1.5, "c": 0.3})
    header, source = to_c(law)
    (tmp_path / "law.h").write_text(header)
    (tmp_path / "law.c").write_text(source)
    (tmp_path / "main.c").write_text(
        '#include "law.h"\n#include <stdio.h>\n'
        'int main(void) { printf("%.17g %d", law(1.2, 0.4), law_in_scope(9.0, 0.4)); return 0; }\n'
    )
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
    command = ["cc", *flags, "main.c", "law.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    value, inside = printed.split()
    assert float(value) == pytest.approx(law.predict({"r": 1.2, "θ": 0.4})[0], rel=1e-13)
    assert inside == "0"


def test_a_comment_cannot_be_closed_by_a_name() -> None:
    law = law_of(parse("k*r", NAMES), {"k": 1.0})
    hostile = Law(
        structure=law.structure,
        target=law.target.__class__("a */ int x; /*\n#error"),
        variables=law.variables,
        coefficients=law.coefficients,
        covariance=law.covariance,
        residual_df=1,
        noise=law.noise,
        scope=law.scope,
    )
    header, _ = to_c(hostile)
    comment = header.split("#ifndef")[0]
    assert comment.count("*/") == 1
    assert "\n#error" not in header
