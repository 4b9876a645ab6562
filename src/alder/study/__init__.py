"""Studies: everything put together. `discover` runs one; `Study` asks and is told."""

from alder.study.discover import discover
from alder.study.study import Study

__all__ = ["Study", "discover"]
