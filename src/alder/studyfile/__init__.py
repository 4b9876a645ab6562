"""Study files: a whole study as one TOML file, with its JSON schema."""

from alder.studyfile.build import read_study
from alder.studyfile.recorded import recorded_study
from alder.studyfile.schema import schema
from alder.studyfile.settings import StudySettings

__all__ = ["StudySettings", "read_study", "recorded_study", "schema"]
