import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from alder.errors import BadLedger
from alder.ledger import entries
from alder.ledger.content import GENESIS, chain, pack
from alder.ledger.database import APPLICATION_ID, SCHEMA_VERSION
from alder.ledger.events import replay
from alder.ledger.store import SqliteStore, read_events, read_unverified
from alder.ports import Store
from alder.records.budget import Budget
from ledger.story import BUDGET, chained, story


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.alder"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path) as store:
        yield store


def write_story(path: Path) -> None:
    with SqliteStore(path) as store:
        for entry in story():
            store.append(*entry)


def edit(path: Path, statement: str, *values: object) -> None:
    """Change the file behind the ledger's back."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_it_is_a_store(store: SqliteStore) -> None:
    assert isinstance(store, Store)


def test_what_was_appended_is_there_after_opening_again(path: Path) -> None:
    write_story(path)
    with SqliteStore(path) as again:
        events = again.events()
    expected = chained(story())
    assert [event.digest for event in events] == [event.digest for event in expected]
    assert [event.kind for event in events] == [event.kind for event in expected]
    assert replay(events).digest == expected[-1].digest == again.digest


def test_an_append_returns_the_digest_of_the_chain(store: SqliteStore) -> None:
    first = store.append("note", {"a": 1})
    second = store.append("note", {"a": 2})
    assert first == chain(GENESIS, 1, "note", b'{"a":1}')
    assert second == chain(first, 2, "note", b'{"a":2}') == store.digest


@pytest.mark.parametrize("values", [np.arange(5000.0), np.random.default_rng(0).normal(size=5000)])
def test_long_arrays_come_back_whether_they_shrink_or_not(
    store: SqliteStore, values: np.ndarray
) -> None:
    store.append("note", {"a": values, "again": values})
    (event,) = store.events()
    np.testing.assert_array_equal(event.content["a"], values)
    (count,) = store._connection.execute("SELECT count(*) FROM arrays").fetchone()
    assert count == 1


def test_an_array_of_several_parts_comes_back(store: SqliteStore) -> None:
    values = np.random.default_rng(0).normal(size=5_000_000)
    store.append("note", {"a": values})
    np.testing.assert_array_equal(store.events()[0].content["a"], values)


def test_a_closed_ledger_is_one_file(path: Path) -> None:
    write_story(path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_closing_twice_is_harmless_and_appending_afterwards_is_refused(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    store.close()
    with pytest.raises(BadLedger, match="was closed"):
        store.append("note", {})


def test_a_second_writer_in_the_same_process_is_refused(path: Path) -> None:
    with SqliteStore(path), pytest.raises(BadLedger, match=r"one\s+writer"):
        SqliteStore(path)
    SqliteStore(path).close()


def test_a_link_to_a_ledger_is_the_same_ledger(path: Path) -> None:
    link = path.with_name("link.alder")
    link.symlink_to(path)
    with SqliteStore(path), pytest.raises(BadLedger, match="another process"):
        SqliteStore(link)


def test_a_reader_sees_what_is_committed_while_another_writes(path: Path) -> None:
    with SqliteStore(path) as store:
        for n, entry in enumerate(story(), start=1):
            store.append(*entry)
            assert len(read_events(path)) == n


def test_a_reader_sees_nothing_of_an_open_batch(path: Path) -> None:
    with SqliteStore(path) as store:
        with store.batch():
            store.append("note", {})
            assert read_events(path) == ()
        assert len(read_events(path)) == 1


def test_a_reader_changes_nothing(path: Path) -> None:
    write_story(path)
    before = path.read_bytes()
    read_events(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_batch_that_fails_leaves_nothing(store: SqliteStore) -> None:
    def interrupted() -> None:
        with store.batch():
            store.append("note", {"n": 2})
            raise KeyError

    store.append("note", {"n": 1})
    with pytest.raises(KeyError):
        interrupted()
    store.append("note", {"n": 3})
    assert [event.content["n"] for event in store.events()] == [1, 3]


def test_a_batch_in_a_batch_is_refused(store: SqliteStore) -> None:
    with store.batch(), pytest.raises(BadLedger, match="another"), store.batch():
        pass


def test_an_ended_ledger_accepts_only_a_resume_with_a_larger_budget(path: Path) -> None:
    write_story(path)
    larger = Budget(proposals=9, queries=6, batch=1, cost=6.0)
    smaller = Budget(proposals=9, queries=5, cost=6.0)
    with SqliteStore(path) as store:
        for entry in (story()[5], entries.resume(BUDGET, {}), entries.resume(smaller, {})):
            with pytest.raises(BadLedger, match="finished"):
                store.append(*entry)
        store.append(*entries.resume(larger, {}))
        store.append("note", {})
        store.append(*story()[-1])
        with pytest.raises(BadLedger, match="finished"):
            store.append(*entries.resume(larger, {}))


def test_a_full_disk_is_said_loses_nothing_and_can_be_mended(store: SqliteStore) -> None:
    noise = np.random.default_rng(0).normal(size=100_000)
    store.append("note", {"n": 1})
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(BadLedger, match="disk is full"):
        store.append("rows", {"a": noise})
    store.append("note", {"n": 2})
    store._connection.execute(f"PRAGMA max_page_count = {10**9}")
    store.append("rows", {"a": noise})
    assert [event.kind for event in store.events()] == ["note", "note", "rows"]


def test_a_disk_that_fills_up_in_a_batch_undoes_the_batch(store: SqliteStore) -> None:
    def stubborn() -> None:
        with store.batch():
            store.append("note", {"n": 2})
            with pytest.raises(BadLedger, match="disk is full"):
                store.append("rows", {"a": np.random.default_rng(0).normal(size=100_000)})

    store.append("note", {"n": 1})
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(BadLedger, match="repeat all of it"):
        stubborn()
    store.append("note", {"n": 3})
    assert [event.content["n"] for event in store.events()] == [1, 3]


def test_a_file_of_another_kind_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"r,v\n1,2\n" * 1000)
    for attempt in (SqliteStore, read_events):
        with pytest.raises(BadLedger, match="not a ledger"):
            attempt(path)
    assert path.read_bytes() == b"r,v\n1,2\n" * 1000
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    edit(path, "CREATE TABLE notes (text)")
    before = path.read_bytes()
    for attempt in (SqliteStore, read_events):
        with pytest.raises(BadLedger, match="another program"):
            attempt(path)
    assert path.read_bytes() == before


def test_a_ledger_of_a_newer_alder_is_refused(path: Path) -> None:
    write_story(path)
    edit(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    for attempt in (SqliteStore, read_events):
        with pytest.raises(BadLedger, match="newer Alder"):
            attempt(path)


def make_version_0(path: Path) -> str:
    """A ledger before arrays had a table of their own."""
    text = pack({"columns": {"x": np.array([1.0, 2.0])}}).text
    digest = chain(GENESIS, 1, "note", text)
    edit(
        path,
        "CREATE TABLE events (number INTEGER PRIMARY KEY, kind TEXT, content BLOB, digest BLOB)",
    )
    edit(path, "INSERT INTO events VALUES (1, 'note', ?, ?)", text, bytes.fromhex(digest))
    edit(path, f"PRAGMA application_id = {APPLICATION_ID}")
    return digest


def test_an_older_ledger_is_upgraded_and_keeps_its_digests(path: Path) -> None:
    digest = make_version_0(path)
    with SqliteStore(path) as store:
        assert store.digest == digest
        store.append("note", {"a": np.zeros(1000)})
    assert len(read_events(path)) == 2


def test_an_older_ledger_can_be_read_without_changing_it(path: Path) -> None:
    digest = make_version_0(path)
    before = path.read_bytes()
    assert [event.digest for event in read_events(path)] == [digest]
    assert path.read_bytes() == before


def test_a_missing_ledger_is_not_read_and_an_empty_file_becomes_one(path: Path) -> None:
    with pytest.raises(BadLedger, match=r"no ledger run\.alder"):
        read_events(path)
    path.touch()
    with pytest.raises(BadLedger, match="empty"):
        read_events(path)
    write_story(path)
    assert read_events(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadLedger, match="no folder missing"):
        SqliteStore(tmp_path / "missing" / "run.alder")


def test_a_folder_is_not_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(BadLedger, match="cannot be opened"):
        SqliteStore(tmp_path)


def test_a_finished_ledger_can_be_read_from_a_medium_that_cannot_be_written(path: Path) -> None:
    write_story(path)
    path.chmod(stat.S_IRUSR)
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert read_events(path)
    finally:
        path.parent.chmod(stat.S_IRWXU)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(path: Path) -> None:
    write_story(path)
    path.chmod(0)
    for attempt in (SqliteStore, read_events):
        with pytest.raises(BadLedger, match="cannot be opened"):
            attempt(path)


def test_an_edited_number_is_found_on_opening(path: Path) -> None:
    write_story(path)
    edit(
        path,
        "UPDATE events SET content = "
        "CAST(replace(CAST(content AS TEXT), 'far', 'fax') AS BLOB) WHERE kind = 'choice'",
    )
    for attempt in (SqliteStore, read_events):
        with pytest.raises(BadLedger, match="event 11 does not match"):
            attempt(path)
    assert len(read_unverified(path)) == len(story())


def test_an_edited_array_is_found_on_reading(path: Path) -> None:
    write_story(path)
    edit(path, "UPDATE arrays SET bytes = zeroblob(length(bytes)) WHERE rowid = 1")
    with SqliteStore(path) as store, pytest.raises(BadLedger, match="does not match its digest"):
        store.events()
    assert len(read_unverified(path)) == len(story())


@pytest.mark.parametrize("change", ["DELETE FROM arrays", "UPDATE arrays SET coding = 'zlib'"])
def test_a_lost_or_damaged_array_is_said(path: Path, change: str) -> None:
    write_story(path)
    edit(path, change)
    with pytest.raises(BadLedger, match="array"):
        read_events(path)


def test_a_removed_event_is_found_on_opening(path: Path) -> None:
    write_story(path)
    edit(path, "DELETE FROM events WHERE number = 7")
    with pytest.raises(BadLedger, match="event 7 "):
        SqliteStore(path)


def test_a_file_cut_anywhere_is_recovered_or_refused_in_one_sentence(path: Path) -> None:
    write_story(path)
    whole = path.read_bytes()
    digests = [event.digest for event in read_events(path)]
    for length in range(1, len(whole), 997):
        path.write_bytes(whole[:length])
        try:
            found = [event.digest for event in read_events(path)]
        except BadLedger:
            continue
        assert found == digests[: len(found)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, list[str]]:
    path = tmp_path_factory.mktemp("damaged") / "run.alder"
    write_story(path)
    return path, path.read_bytes(), [event.digest for event in read_events(path)]


@example(place=3854, length=1, filler=b"\xff")  # in the schema: no text any more
@given(st.integers(0, 2**20), st.sampled_from([1, 512]), st.sampled_from([b"\0", b"\xff", b"a"]))
def test_a_byte_changed_anywhere_is_harmless_or_refused_in_one_sentence(
    written: tuple[Path, bytes, list[str]], place: int, length: int, filler: bytes
) -> None:
    path, whole, digests = written
    start = place % len(whole)
    damaged = whole[:start] + filler * length + whole[start + length :]
    path.write_bytes(damaged)
    try:
        found = [event.digest for event in read_events(path)]
    except BadLedger:
        return
    assert found == digests[: len(found)]


def test_a_write_ahead_log_cut_anywhere_loses_only_the_last_events(tmp_path: Path) -> None:
    path = tmp_path / "run.alder"
    copied = tmp_path / "copy.alder"
    log = path.with_name("run.alder-wal")
    copied_log = copied.with_name("copy.alder-wal")
    with SqliteStore(path) as store:
        sizes = [log.stat().st_size]
        for entry in story():
            store.append(*entry)
            sizes.append(log.stat().st_size)
        digests = [event.digest for event in store.events()]
        main, whole = path.read_bytes(), log.read_bytes()
    for length in range(sizes[0], len(whole) + 1, 2003):
        copied.write_bytes(main)
        copied_log.write_bytes(whole[:length])
        with SqliteStore(copied) as again:
            n_events = sum(size <= length for size in sizes) - 1
            assert [event.digest for event in again.events()] == digests[:n_events]
            again.append("note", {})


def test_a_ledger_copied_with_its_log_after_a_crash_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "run.alder"
    copied = tmp_path / "copy.alder"
    with SqliteStore(path) as store:
        store.append("note", {})
        shutil.copy(path, copied)
        shutil.copy(f"{path}-wal", f"{copied}-wal")
    assert len(read_events(copied)) == 1


def test_another_process_is_told_who_writes(path: Path) -> None:
    program = (
        "import sys\n"
        "from alder.errors import BadLedger\n"
        "from alder.ledger.store import SqliteStore\n"
        "try:\n    SqliteStore(sys.argv[1])\n"
        "except BadLedger as error:\n    print(error)\n"
    )
    with SqliteStore(path):
        ran = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
        )
    assert ran.stdout == (
        f"run.alder is being written by another process ({os.getpid()}); a ledger has one "
        "writer: wait until it ends, or name another ledger.\n"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said(path: Path) -> None:
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(BadLedger, match="may write"):
            SqliteStore(path)
    finally:
        path.parent.chmod(stat.S_IRWXU)
