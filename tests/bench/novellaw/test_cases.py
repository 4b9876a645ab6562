import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alder.bench.novellaw.cases import Draw, draw_case, make_case, objections
from alder.bench.novellaw.domains import ROLES, TARGET, cost_of, is_safe
from alder.bench.novellaw.recipes import PLACES
from alder.bench.novellaw.release import commitment, write_release
from alder.bench.novellaw.targets import FORM_SETS, NAMES
from alder.bench.novellaw.variation import OPTIONS, varied_case
from alder.errors import BadStudy


def settings(**given: Any) -> dict[str, Any]:
    return {"seed": 4, **OPTIONS, **given}


@pytest.fixture(scope="module", params=FORM_SETS)
def draw(request: pytest.FixtureRequest) -> Draw:
    return make_case("stress-02a", request.param, 4).draw


def test_a_kept_draw_has_nothing_against_it(draw: Draw) -> None:
    assert list(objections(draw)) == []


def test_roles_have_their_sizes_and_no_inputs_in_common(draw: Draw) -> None:
    sizes = {role: len(columns[TARGET.name]) for role, columns in draw.clean.items()}
    assert sizes == {
        "fit": 192, "validation": 96, "pool": 256, "admission": 384, "shift": 384,
        "shift-score": 384, "functional": 4096,
    }  # fmt: skip
    rows = {tuple(row) for columns in draw.clean.values()
            for row in np.stack([columns[name] for name in NAMES], axis=1)}  # fmt: skip
    assert len(rows) == sum(sizes.values())


def test_noise_is_half_a_per_cent_of_the_spread_of_the_fit_target(draw: Draw) -> None:
    spread = float(np.std(draw.clean["fit"][TARGET.name]))
    for role in ROLES:
        noise = draw.rows(role)[TARGET.name] - draw.clean[role][TARGET.name]
        expected = 0.005 if ROLES[role].noisy else 0.0
        # 96 rows tell a standard deviation to 7 %; four of those.
        assert float(np.std(noise)) / spread == pytest.approx(expected, rel=0.3)


def test_shift_rows_lie_outside_the_public_ranges(draw: Draw) -> None:
    public, shift = draw.clean["fit"], draw.clean["shift"]
    for name in NAMES:
        low, high = np.abs(public[name]).min(), np.abs(public[name]).max()
        n_inside = np.count_nonzero((np.abs(shift[name]) <= high) & (np.abs(shift[name]) >= low))
        assert n_inside < 0.05 * len(shift[name])


def test_queries_cost_more_far_out_and_some_are_unsafe() -> None:
    pool = draw_case(PLACES["iid-01a"], "a", 0, 0).clean["pool"]
    assert float(cost_of(pool).min()) >= 1.0
    assert float(cost_of(pool).max()) > 1.1
    assert 0.5 < float(np.mean(is_safe(pool))) < 1.0


def test_a_case_is_a_function_of_its_name_form_set_and_seed() -> None:
    place = PLACES["compositional-01a"]
    one, two = (draw_case(place, "b", 7, 0) for _ in range(2))
    assert one.target.values == two.target.values
    np.testing.assert_array_equal(one.clean["pool"]["r"], two.clean["pool"]["r"])
    others = [
        draw_case(place, "b", 8, 0),
        draw_case(place, "b", 7, 1),
        draw_case(PLACES["compositional-01b"], "b", 7, 0),
    ]
    assert all(other.clean["fit"]["r"][0] != one.clean["fit"]["r"][0] for other in others)


def test_a_draw_that_hardly_varies_is_objected_to(draw: Draw) -> None:
    flat = {role: {**rows, TARGET.name: 1e-3 * rows[TARGET.name]}
            for role, rows in draw.clean.items()}  # fmt: skip
    assert "variance" in list(objections(Draw(draw.place, draw.target, flat, draw.noise)))


def test_a_draw_with_a_row_in_two_roles_is_objected_to(draw: Draw) -> None:
    shared = {**draw.clean, "validation": {n: c[:96] for n, c in draw.clean["fit"].items()}}
    assert "overlap" in list(objections(Draw(draw.place, draw.target, shared, draw.noise)))


def test_a_draw_that_is_no_law_of_its_target_is_objected_to(draw: Draw) -> None:
    other = {role: {**rows, TARGET.name: rows[TARGET.name] + 0.5 * rows["v"] ** 3}
             for role, rows in draw.clean.items()}  # fmt: skip
    assert "oracle" in list(objections(Draw(draw.place, draw.target, other, draw.noise)))


def test_an_unknown_case_is_misuse() -> None:
    with pytest.raises(BadStudy, match="iid-99z"):
        make_case("iid-99z", "a", 0)


def test_variations_change_one_thing_each() -> None:
    plain = varied_case("iid-01a", settings())
    noisy = varied_case("iid-01a", settings(noise=0.05))
    np.testing.assert_array_equal(plain.rows["fit"]["r"], noisy.rows["fit"]["r"])
    clean = plain.draw.clean["fit"][TARGET.name]
    ratio = (noisy.rows["fit"][TARGET.name] - clean) / (plain.rows["fit"][TARGET.name] - clean)
    np.testing.assert_allclose(ratio, 10.0, rtol=1e-6)

    few = varied_case("iid-01a", settings(rows=0.25))
    assert {role: len(rows["r"]) for role, rows in few.rows.items()} == {
        **{role: known.n_rows for role, known in ROLES.items()}, "fit": 48, "validation": 24,
    }  # fmt: skip

    crowded = varied_case("iid-01a", settings(distractors=3))
    assert crowded.grammar.variable_names == (*NAMES, "x1", "x2", "x3")
    assert set(crowded.rows["pool"]) == {*crowded.grammar.variable_names, TARGET.name}
    np.testing.assert_array_equal(crowded.rows["shift"]["a"], plain.rows["shift"]["a"])

    permuted = varied_case("iid-01a", settings(permute=True))
    assert sorted(permuted.grammar.variable_names) == sorted(NAMES)
    assert permuted.grammar.variable_names != NAMES

    scaled = varied_case("iid-01a", settings(rescale=1e-3))
    for name in (*NAMES, TARGET.name):
        np.testing.assert_allclose(scaled.rows["fit"][name], 1e-3 * plain.rows["fit"][name])


@pytest.mark.parametrize("wrong", [{"forms": "z"}, {"admission": "none"}, {"rescale": 0.0}])
def test_options_that_mean_nothing_are_misuse(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadStudy, match=f"--{next(iter(wrong))}"):
        varied_case("iid-01a", settings(**wrong))


def test_the_release_holds_public_rows_and_commitments_only(tmp_path: Path) -> None:
    write_release(["iid-01a"], settings(), tmp_path)
    public = tmp_path / "public" / "iid-01a"
    assert sorted(path.name for path in public.iterdir()) == [
        "commitments.json", "fit.csv", "validation.csv",
    ]  # fmt: skip
    case = varied_case("iid-01a", settings())
    with (public / "fit.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([float(row["a"]) for row in rows], case.rows["fit"]["a"])
    committed = json.loads((public / "commitments.json").read_text("utf-8"))["protected"]
    salts = json.loads((tmp_path / "salts.json").read_text("utf-8"))["iid-01a"]
    for role in set(ROLES) - {"fit", "validation"}:
        assert committed[role]["sha256"] == commitment(case.rows[role], salts[role])


def test_a_commitment_depends_on_every_value_and_on_the_salt() -> None:
    rows = {"r": np.array([1.0, 2.0])}
    first = commitment(rows, "00")
    assert commitment(rows, "01") != first
    assert commitment({"r": np.array([1.0, np.nextafter(2.0, 3.0)])}, "00") != first
