"""Files are written whole, or not at all, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from discreet import RequestError
from discreet.core import files
from discreet.core.files import write_text, write_whole


def test_texts_are_written_in_utf_8(tmp_path: Path) -> None:
    write_text(tmp_path / "t.txt", "größe\n日本")
    assert (tmp_path / "t.txt").read_bytes().decode("utf-8") == "größe\n日本"
    write_text(str(tmp_path / "t.txt"), "again")
    assert (tmp_path / "t.txt").read_text() == "again"
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def test_files_get_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "t.txt", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "t.txt").stat().st_mode & 0o777 == 0o640


def test_relative_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_text("t.txt", "here")
    assert (tmp_path / "t.txt").read_text() == "here"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("no"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(error: BaseException, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("old")
    expected = RequestError if isinstance(error, OSError) else type(error)

    def write(path: Path) -> None:
        path.write_text("half")
        raise error

    with pytest.raises(expected) as caught:
        write_whole(tmp_path / "t.txt", write)
    if isinstance(error, OSError):
        assert "cannot be written (No space left on device); nothing was written" in str(caught.value)
    assert (tmp_path / "t.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def test_places_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="missing is not a folder; make it first, or write elsewhere"):
        write_text(tmp_path / "missing" / "t.txt", "x")
    with pytest.raises(RequestError, match="is a folder; name a file"):
        write_text(tmp_path, "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="file is not a folder"):
        write_text(tmp_path / "file" / "t.txt", "x")
    with pytest.raises(RequestError, match=r"cannot be written \(File name too long\)"):
        write_text(tmp_path / ("x" * 300), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_is_still_written_to_scratch_folders_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread of a process that ends can write a file between the list of files and their removal."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    remove, late = shutil.rmtree, iter(range(3))

    def beside_a_thread(path: str, ignore_errors: bool) -> None:
        remove(path, ignore_errors=ignore_errors)
        if next(late, None) is not None:
            Path(path).mkdir()
            (Path(path) / "spilled.tmp").touch()

    with files.ScratchFolder() as folder:
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "rmtree", beside_a_thread)
            files.remove_scratch()
        assert not Path(folder).exists()
