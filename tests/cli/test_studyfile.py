"""Study files: what they say is what a study gets, and a mistake is shown at its line."""

import json
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from cli.studies import STUDY, WRONG_GUESSES, manual, with_proposer, write_study
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadStudy
from alder.records.limits import Limits
from alder.studyfile import read_study, schema
from alder.studyfile.lines import find_line
from alder.tables import as_columns
from alder.verification.spending import AlphaSpending, Thresholdout
from alder.worlds.function import FunctionWorld
from alder.worlds.log import LogWorld
from alder.worlds.manual import ManualWorld
from alder.worlds.pool import PoolWorld

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "study.schema.json"


def test_a_study_file_says_everything_a_study_needs(tmp_path: Path) -> None:
    settings = read_study(write_study(tmp_path))
    assert settings.grammar.variable_names == ("r", "v")
    assert settings.grammar.variables[0].range == (0.5, 4.0)
    assert settings.grammar.target.unit == "m/s^2"
    assert settings.grammar.max_nodes == 21
    assert (settings.budget.proposals, settings.budget.queries, settings.budget.batch) == (4, 8, 3)
    assert settings.seed == 3
    assert settings.guesses[1].bounds["p"].upper == 0.0
    assert settings.protected is not None
    assert isinstance(settings.world, PoolWorld)


def test_rows_of_several_files_come_one_below_the_other(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    r = as_columns(read_study(path).initial)["r"]
    parts = [as_columns(read_study(_only(tmp_path, f)).initial)["r"] for f in ("first", "second")]
    assert np.array_equal(r, np.concatenate(parts))


def _only(folder: Path, name: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(STUDY.replace('["first.csv", "second.csv"]', f'"{name}.csv"'), "utf-8")
    return path


@pytest.mark.parametrize(
    ("written", "instead", "shown_at", "words"),
    [
        ('name = "v"', 'name = "speed"', "speed", "`speed` is not a column of first.csv; r, v, a"),
        ('name = "v"', 'name = "speed"', "speed", "Did you mean `v`?"),
        ("queries = 8", "querys = 8", "querys", "Did you mean `queries`?"),
        ("max_nodes = 21", 'max_nodes = "many"', "many", "must be a whole number; got 'many'"),
        ("proposals = 4", "proposals = 0", "proposals", "must be at least 1; got 0"),
        ('"validation.csv"', "validation.csv", "validation.csv", "Text stands in quotes"),
        ('"validation.csv"', '"vaildation.csv"', "vaild", "There is no file vaildation.csv"),
        ('"admission.csv"', "1", "admission = 1", "must be text in quotes or a list"),
        ('"powp"', '"power"', "power", "Did you mean `pow`?"),
        ("k*exp(-r/s)", "k*sin(-r/s)", "k*sin", "`sin` is not in this grammar"),
        ("k*r^p", "k*r^^p", "^^", "where an exponent was expected"),
        ('unit = "m"', 'unit = "meterz"', "[[grammar.variables]]", "Did you mean `meter`?"),
        ("range = [0.5, 4.0]", "range = [0.5]", "range", "is a pair such as [0.5, 4.0]"),
        ('kind = "pool"', 'kind = "pond"', "pond", "pool, manual, log, function, python are"),
        ("seed = 3", 'selector = "agreement"', "agreement", "disagreement, information"),
        ('target = { name = "a", unit = "m/s^2" }', "", "[grammar]", "needs `target`: the column"),
        ("[budget]", "[budget]\nwater = 3", "water", "`water` is not a setting of [budget]"),
        ("[proposer]", '[proposer]\nkind = "oracle"', "oracle", "`oracle` is not a proposer"),
        ("[budget]", '[spending]\nkind = "free"\n[budget]', '"free"', "alpha-spending"),
        (
            "[budget]",
            '[spending]\nkind = "thresholdout"\nsubmissions = 3\n[budget]',
            "submissions",
            "`submissions` is no setting of thresholdout; alpha, margin, refusals, scale are",
        ),
        ("[budget]", '[criteria]\nown = ["mine"]\n[budget]', "mine", "brings a criterion named"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(
    written: str, instead: str, shown_at: str, words: str, tmp_path: Path
) -> None:
    assert written in STUDY
    text = STUDY.replace(written, instead, 1)
    line = 1 + next(i for i, each in enumerate(text.splitlines()) if shown_at in each)
    with pytest.raises(BadStudy) as caught:
        read_study(write_study(tmp_path, text))
    assert str(caught.value).startswith(f"study.toml, line {line}: ")
    assert words in str(caught.value)


def test_the_schema_is_the_published_one() -> None:
    assert json.loads(PAGE.read_text(encoding="utf-8")) == schema()


def test_the_schema_is_a_schema_and_accepts_the_study() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(tomllib.loads(STUDY), schema())


@pytest.mark.parametrize(
    ("world", "kind"),
    [
        ("", LogWorld),
        ('[world]\nkind = "log"\n', LogWorld),
        ('[world]\nkind = "manual"\nranges = { r = [0.5, 4], v = [-2, 2] }\nn = 9\n', ManualWorld),
        ('[world]\nfunction = "rig:run"\nexperiments = "experiments.csv"\n', FunctionWorld),
        ('[world]\nkind = "python"\nobject = "rig:world"\n', LogWorld),
        ('[world]\nobject = "rig:make"\n', LogWorld),
    ],
)
def test_every_kind_of_world_is_made(world: str, kind: type, tmp_path: Path) -> None:
    (tmp_path / "rig.py").write_text(
        "import alder\n\ndef run(settings):\n    return 1.0\n\nworld = alder.LogWorld()\n\n"
        "def make():\n    return world\n",
        encoding="utf-8",
    )
    begin, end = STUDY.index("[world]"), STUDY.index("[budget]")
    path = write_study(tmp_path, STUDY[:begin] + world + STUDY[end:])
    assert isinstance(read_study(path).world, kind)


def test_a_function_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    text = STUDY.replace('kind = "pool"', 'function = "no_such_rig:run"')
    with pytest.raises(BadStudy, match=r"line \d+: .*no_such_rig"):
        read_study(write_study(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "python"', 'needs its object: object = "module:name"'),
        ('object = "shed"', "must look like"),
        ('object = "shed:nothing"', "The module `shed` has no `nothing`"),
        ('object = "shed:number"', "`shed:number` is no world"),
        ('object = "shed:broken"', "The world cannot be made: .*no power"),
        ('function = "shed:number"', "`shed:number` is not a function"),
    ],
)
def test_what_is_no_world_is_named_in_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "shed.py").write_text(
        "number = 3\n\ndef broken():\n    raise RuntimeError('no power')\n", encoding="utf-8"
    )
    path = write_study(tmp_path, STUDY.replace('kind = "pool"', text))
    with pytest.raises(BadStudy, match=said):
        read_study(path)


def test_what_answers_cost_is_read(tmp_path: Path) -> None:
    assert read_study(write_study(tmp_path, STUDY)).spending == AlphaSpending()
    text = STUDY.replace("[budget]", '[spending]\nkind = "thresholdout"\nscale = 0.2\n[budget]')
    assert read_study(write_study(tmp_path, text)).spending == Thresholdout(scale=0.2)


def test_columns_of_cost_and_safety_are_read(tmp_path: Path) -> None:
    path = write_study(tmp_path, manual())
    table = "r,v,price,ok\n1,0,2.5,yes\n2,0,1,no\n"
    (tmp_path / "experiments.csv").write_text(table, encoding="utf-8")
    path.write_text(
        manual().replace("[budget]", 'cost = "price"\nsafe = "ok"\n\n[budget]'), "utf-8"
    )
    world = read_study(path).world
    assert isinstance(world, ManualWorld)
    assert world.offers.pool.cost.tolist() == [2.5, 1.0]
    assert world.offers.pool.safe.tolist() == [True, False]
    assert "price" not in world.offers.pool.columns


def test_a_pool_without_outcomes_says_what_to_write(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    (tmp_path / "experiments.csv").write_text("r,v\n1,0\n", encoding="utf-8")
    with pytest.raises(BadStudy, match='kind = "manual" where a person measures'):
        read_study(path)


def test_shifted_regimes_have_names(tmp_path: Path) -> None:
    shift = '"admission.csv", shift = { cold = "validation.csv" } }'
    path = write_study(tmp_path, STUDY.replace('"admission.csv" }', shift))
    protected = read_study(path).protected
    assert protected is not None
    assert list(protected.tables()) == ["admission", "cold"]


_NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True)


@given(
    st.lists(
        st.tuples(_NAMES, st.integers() | st.text("ab#[]'", max_size=4)), unique_by=lambda p: p[0]
    )
)
def test_every_key_is_found_on_its_line(pairs: list[tuple[str, int | str]]) -> None:
    lines = ["# [not.a.table] # x = 1", "[table]"]
    lines += [f"{name} = {json.dumps(value)} # y = [" for name, value in pairs]
    text = "\n".join(lines)
    assert tomllib.loads(text)["table"] == dict(pairs)
    found = [find_line(text, ("table", name)) for name, _ in pairs]
    assert found == list(range(3, 3 + len(pairs)))


def test_lines_inside_long_strings_and_lists_are_no_keys() -> None:
    text = (
        'a = """\nb = 1\n"""\nc = [\n  "b = 1", # ]\n  2,\n]\nb = 5\n[[d]]\nb = 1\n[[d]]\nb = 2\n'
    )
    tomllib.loads(text)
    assert find_line(text, ("b",)) == 8
    assert find_line(text, ("d", 1, "b")) == 12
    assert find_line(text, ("c", 0), "b = 1") == 5


LIMITS = "[limits]\ncolumns = { a = [-inf, 3.0] }\nsigmas = 1\n\n[budget]"


def test_limits_of_the_file_are_those_of_the_study(tmp_path: Path) -> None:
    settings = read_study(write_study(tmp_path, STUDY.replace("[budget]", LIMITS)))
    assert settings.limits == Limits({"a": (-np.inf, 3.0)}, sigmas=1.0)
    assert read_study(write_study(tmp_path)).limits is None


def test_limits_of_the_file_are_kept_by_its_study(tmp_path: Path) -> None:
    text = with_proposer(STUDY.replace("[budget]", LIMITS), WRONG_GUESSES)
    settings = read_study(write_study(tmp_path, text))
    with settings.open(None) as study:
        assert study.ask()
        assert all("a <= 3" in choice.reason for choice in study.evidence.choices)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("columns = { z = [0, 1] }", "line .*`z` cannot be forecast"),
        ("columns = { a = [2, 1] }", "line .*The limits of `a` are two numbers"),
        ("columns = { a = [2] }", "line .*`a` is a pair"),
        ("sigmas = 2", "limits.* needs `columns`"),
        ("columns = { a = [0, 1] }\nsigmas = -1", "line .*`sigmas` must be at least 0"),
    ],
)
def test_a_mistake_in_limits_is_shown_at_its_line(limits: str, words: str, tmp_path: Path) -> None:
    text = STUDY.replace("[budget]", f"[limits]\n{limits}\n\n[budget]")
    with pytest.raises(BadStudy, match=words):
        read_study(write_study(tmp_path, text))
