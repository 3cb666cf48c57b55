"""Progress bars: silent at first, silent in files, with the time left on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from discreet.cli import show


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("discreet.cli.show.time.monotonic", lambda: now[0])
    return now


def in_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal that knows colours and cursors in place of standard error."""
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", stream)
    return stream


def half_done(bar: show.ProgressBar, clock: list[float]) -> None:
    """Have half of the work done after ten more seconds, and draw the bar."""
    clock[0] += 10
    bar(5, 10, "drawing")
    assert bar._bar is not None
    bar._bar.refresh()


def drawn(clock: list[float], stream: io.StringIO, seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a bar draws for work that has been half done after some seconds."""
    monkeypatch.setattr("sys.stderr", stream)
    with show.ProgressBar() as bar:
        bar(0, 10, "drawing")
        clock[0] += seconds
        bar(5, 10, "drawing")
        bar(6, 10, "drawing")
    return stream.getvalue()


def test_quick_work_shows_no_bar(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(clock, Terminal(), 1.9, monkeypatch) == ""


def test_slow_work_shows_how_much_is_done_and_left(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = drawn(clock, Terminal(), 2.1, monkeypatch)
    assert "drawing" in text
    assert "/10" in text
    assert "left" in text


def test_files_and_pipes_get_no_bar(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(clock, io.StringIO(), 60, monkeypatch) == ""


def test_a_bar_is_taken_away_when_work_fails(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    bar = show.ProgressBar()

    def work() -> None:
        with bar:
            clock[0] += 5
            bar(1, 2, "drawing")
            raise KeyError("work")

    with pytest.raises(KeyError, match="work"):
        work()
    assert bar._bar is not None
    assert bar._bar.finished is False
    assert bar._bar.live.is_started is False


@pytest.mark.parametrize(("text", "filled"), [("0.0000", 0), ("0.5000", 6), ("1.0000", 12), ("1.7", 12), ("-1", 0)])
def test_bars_of_figures(text: str, filled: int) -> None:
    assert show._bar(text).count("█") == filled
    assert show._bar(text).count("░") == 12 - filled


def test_undefined_figures_have_no_bar() -> None:
    assert show._bar("–") == ""


def test_the_time_left_grows_while_nothing_is_finished(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = in_terminal(monkeypatch)
    with show.ProgressBar() as bar:
        bar(0, 10, "drawing")
        half_done(bar, clock)
        assert "0:00:10 left" in terminal.getvalue()
        clock[0] += 260
        assert bar._bar is not None
        bar._bar.refresh()
        assert "0:04:30 left" in terminal.getvalue()


def test_compiling_in_the_middle_does_not_count(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = in_terminal(monkeypatch)
    monkeypatch.setattr(show.CompilingBar, "spent", 0.0)
    compiling = show.CompilingBar()
    with show.ProgressBar() as bar:
        bar(0, 10, "drawing")
        compiling(0, 3, "compiling once, about 2 s")
        clock[0] += 500
        compiling(3, 3, "compiling once, about 2 s")
        half_done(bar, clock)
    assert "0:00:10 left" in terminal.getvalue()
    assert "0:08" not in terminal.getvalue()


@pytest.mark.parametrize(("figure", "numbered"), [("2", False), ("1,234,562", True)])
def test_no_column_is_cut_off_where_labels_are_long(
    figure: str, numbered: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    header = ["cell", "lower", "upper", "values", "bits", "DR", "DR before", "attacker", "verdict"]
    label = "economic_activity=Agriculture, legal_form=Sole proprietor"
    row = [label, figure, figure, "3", "1.585", "0.6309", "0.1397", "outsider", "safe"]
    show.table(Console(width=80), header, [row])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("attacker  verdict") for line in lines)
    assert any(line.split()[1:] == row[1:] for line in lines)
    assert (f"1  {label}" in lines) is numbered
