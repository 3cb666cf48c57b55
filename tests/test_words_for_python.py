"""Results name arguments to people who work in Python, and options to people at the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli.running import run

import discreet as dc
from discreet.core.errors import both_shown
from discreet.table.attacker import Contribution

HIDDEN = "area,sex,count\nN,m,x\nN,f,5\nS,m,7\nS,f,x\nN,Total,8\nS,Total,12\nTotal,m,10\nTotal,f,10\nTotal,Total,20\n"
TABLE = dc.Table.from_array([[8, 1, 4], [3, 12, 4]], {"area": ["north", "south"], "group": ["a", "b", "c"]})


def test_an_audit_names_arguments_in_python_and_options_at_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "hidden.csv"
    path.write_text(HIDDEN, encoding="utf-8")
    found = dc.audit(path)
    for text in (found.sentence, str(found), found._repr_html_()):
        assert "(least=1)" in text
        assert "--least" not in text
    at_the_terminal = " ".join(run("audit", str(path)).out.split())
    assert "(--least 1)" in at_the_terminal
    assert "least=1" not in at_the_terminal


def test_what_python_shows_of_results_names_no_option(tmp_path: Path) -> None:
    assessed, compared = dc.assess(TABLE, seed=1, trial=True), dc.compare(TABLE, draws=2, seed=1)
    protected = dc.protect.RandomRounding(3).apply(TABLE, seed=1)
    for result in (assessed, compared, protected):
        for text in (str(result), repr(result), result._repr_html_(), result.sentence):
            assert "(--" not in re.sub("<style>.*?</style>", "", text, flags=re.DOTALL)
            assert ", --" not in text


def test_a_record_is_the_same_whoever_made_it() -> None:
    compared = dc.compare(TABLE, draws=2, seed=1)
    told = compared.results()
    with both_shown():
        assert compared.results() == told


def test_an_audit_of_exact_figures_names_functions_in_python_and_commands_at_the_command_line(tmp_path: Path) -> None:
    assert "(dc.sensitivity, dc.risk)" in dc.audit(TABLE).sentence
    TABLE.write(tmp_path / "table.csv")
    assert "(discreet rules, discreet risk)" in " ".join(run("audit", str(tmp_path / "table.csv")).out.split())


def test_a_suppressed_table_shows_and_hands_over_its_figures() -> None:
    found = dc.suppress(TABLE, "threshold=3", levels=(1, 1))
    told, release, _, header, *rows = repr(found).splitlines()
    assert told == found.sentence
    assert release.startswith("Release by suppress (")
    assert header.split() == ["area", "\\", "group", "Total", "a", "b", "c"]
    hidden = sum(row.split().count("hidden") for row in rows)
    assert hidden == found.pattern.counts["primary"] + found.pattern.counts["secondary"] > 1
    assert found.to_frame()["count"].isna().sum() == hidden
    assert found.to_frame(value="people").columns.tolist() == ["area", "group", "people"]


def test_a_release_that_was_read_says_how_it_was_published(tmp_path: Path) -> None:
    dc.protect.random_rounding(TABLE, base=3, seed=2**100).write(tmp_path / "release.csv")
    read = dc.read_release(tmp_path / "release.csv")
    assert str(read).splitlines()[0] == "Release as published"
    assert "<p>Release as published</p>" in read._repr_html_()
    entry = dc.Ledger(tmp_path / "ledger.sqlite").add(read, title="First")
    assert repr(entry) == f"{entry.id} «First»"


def test_what_a_function_does_not_take_is_refused_in_words() -> None:
    release = dc.protect.random_rounding(TABLE, base=3, seed=2**100)
    counts, people = pa.table({"area": ["n", "s"], "n": [3, 4]}), pa.table({"area": ["n", "s"], "person": [1, 2]})
    asked: list[tuple[Callable[..., object], tuple[object, ...], dict[str, object], str]] = [
        (dc.tabulate, (people, ["area"]), {"contributr": "person"}, "did you mean 'contributor'?"),
        (dc.read_table, (counts,), {"cuont": "n"}, "did you mean 'count'?"),
        (dc.audit, (release,), {"laest": 1}, "did you mean 'least'?"),
        (dc.audit, (release,), {"limits": 0.5}, "limits is 0.5; give limits, as dc.Limits(dr=0.7)"),
    ]
    for function, given, options, said in asked:
        with pytest.raises(dc.RequestError, match=re.escape(said)):
            function(*given, **options)


def test_models_and_single_people_are_told_in_words() -> None:
    sample = dc.Table.from_array([[8, 1, 4], [3, 12, 4]], ["area", "group"])
    assert "drawn from the log-linear model" in dc.estimate(sample, 500, draws=2, seed=1).sentence
    assert "drawn from the Pólya urn model" in dc.estimate(sample, 500, model="polya", draws=2, seed=1).sentence
    assert dc.population_uniques(sample, 500).sentence.startswith("1 of 32 people sampled is alone in their cell")


def test_attackers_are_named_where_there_are_others_than_outsiders() -> None:
    release = dc.protect.random_rounding(TABLE, base=3, seed=2**100)
    assert dc.audit(release).table(3)[0][-2:] == ["DR before", "verdict"]
    insider = dc.Attacker("neighbour", (Contribution({"area": "north", "group": "a"}, 1),))
    found = dc.audit(release, attackers=[insider]).table(3)
    assert found[0][-2:] == ["attacker", "verdict"]
    assert len({len(row) for row in found}) == 1


@pytest.mark.parametrize("function", [dc.risk, dc.information_loss])
def test_what_is_no_release_is_refused_in_words(function: Callable[..., object]) -> None:
    with pytest.raises(dc.RequestError, match=r"no table or release \(int\)"):
        function(TABLE, 5)
    # What holds a release is one.
    assert function(TABLE, dc.assess(TABLE, protection="random-rounding:base=3", seed=1, trial=True))
