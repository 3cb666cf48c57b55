"""Seeds: drawn with 128 bits where none is given, refused where they are short, and never published."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import refused, run

import discreet as dc
from discreet.core.random import BITS, LEAST, drawn_seed, generator, is_short, release_seed, spawn
from discreet.report import write_pictures
from discreet.table.release import TRIAL, Release

LONG = 0xC0FFEE_DEADBEEF_0123456789ABCDEF
"""A seed that may stand behind a release."""
RANDOM: dict[str, list[object]] = {
    "random-rounding": [],
    "semi-controlled-rounding": ["--totals", "output_area"],
    "controlled-rounding": ["--unbiased"],
    "cell-key": [],
    "simulation": [],
    "random-sample": ["--sample-size", 245],
    "bernoulli-sample": ["--rate", 0.1],
    "stratified-sample": ["--strata", "output_area", "--fraction", 0.1],
    "record-swapping": ["--area", "output_area"],
    "table-swapping": ["--keep-all", 1],
}
"""The commands that draw, with what they need."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dc.datasets.religion().write("religion.csv")
    return tmp_path


class Source:
    """The operating system's source of chance, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def randbits(self, bits: int) -> int:
        self.asked.append(bits)
        return (1 << (bits - 1)) + len(self.asked)


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    made = Source()
    monkeypatch.setattr(secrets, "randbits", made.randbits)
    return made


def test_a_drawn_seed_has_128_bits(source: Source) -> None:
    assert BITS == 128
    seen = [drawn_seed() for _ in range(3)]
    assert source.asked == [128, 128, 128]
    assert len(set(seen)) == 3
    assert not any(map(is_short, seen))
    # Every bit of what was drawn is in the seed.
    assert [seed & (2**128 - 1) for seed in seen] == [2**127 + i for i in (1, 2, 3)]


def test_whatever_draws_asks_the_operating_system_for_128_bits(source: Source, folder: Path) -> None:
    table = dc.datasets.religion()
    work: list[Any] = [
        lambda: generator(None).random(),
        lambda: spawn(None, 2)[0].random(),
        lambda: dc.protect.random_rounding(table, 3),
        lambda: dc.protect.cell_key(table),
        lambda: dc.protect.simulation(table),
        lambda: dc.protect.record_swapping(table, "output_area"),
        lambda: dc.protect.random_sample(table, 245),
        lambda: dc.assess(table, protection="random-rounding:base=3"),
        lambda: dc.compare(table, ["random-rounding:base=3"], draws=2, audits=1),
        lambda: run("assess", "religion.csv", "--method", "random-rounding:base=3"),
        lambda: run("compare", "religion.csv", "--method", "random-rounding:base=3", "--draws", 2, "--audits", 1),
        *(lambda c=c, m=m: run("protect", c, "religion.csv", *m) for c, m in RANDOM.items()),
    ]
    for one in work:
        before = len(source.asked)
        one()
        assert source.asked[before:], one
        assert min(source.asked[before:]) >= 128


def test_two_runs_differ_and_a_seed_repeats_one() -> None:
    table = dc.datasets.religion()

    def counts(**given: Any) -> list[int]:
        return dc.protect.random_rounding(table, 3, **given).table.to_array().ravel().tolist()

    assert counts() != counts()
    assert counts(seed=LONG) == counts(seed=LONG)
    assert counts(seed=LONG) != counts(seed=LONG + 2**100)
    first, second = (dc.assess(table, protection="random-rounding:base=3") for _ in range(2))
    assert first.record["request"]["seed"] != second.record["request"]["seed"]
    assert not is_short(first.record["request"]["seed"])


@pytest.mark.parametrize(
    ("seed", "short"),
    [
        (0, True),
        (1, True),
        (2**32, True),
        (LEAST - 1, True),
        (LEAST, False),
        (LONG, False),
        (None, False),
        (np.int64(7), True),
        (np.random.SeedSequence(1), True),
        (np.random.SeedSequence(LONG), False),
        (np.random.SeedSequence([1, 2, 3]), True),
        (np.random.SeedSequence([2**32 - 1] * 4), False),
        (np.random.default_rng(1), True),
        (np.random.default_rng(LONG), False),
        (np.random.default_rng(), False),
        (np.random.SeedSequence(1).spawn(1)[0], True),
    ],
)
def test_which_seeds_are_short(seed: Any, short: bool) -> None:
    assert is_short(seed) == short
    made = dc.protect.random_rounding(dc.Table.from_array([1, 5, 2], ["x"]), 3, seed=seed)
    assert made.trial == short


def test_seeds_that_are_none_are_refused() -> None:
    for seed in (-1, 1.5, True, "1"):
        with pytest.raises(dc.RequestError, match="give an integer, 0 or more"):
            release_seed(seed, trial=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", RANDOM)
def test_commands_refuse_a_short_seed_unless_it_is_for_a_trial(command: str, folder: Path) -> None:
    arguments = ["protect", command, "religion.csv", *RANDOM[command], "-o", "release.csv", "--seed"]
    told = refused(run(*arguments, 1))
    assert "seed 1 is short, below 2^96" in told
    assert "--trial" in told
    assert not Path("release.csv").exists()
    tried = run(*arguments, 1, "--trial")
    assert (tried.code, tried.err) == (0, "")
    assert TRIAL in tried.out
    assert dc.read_release("release.csv").trial
    assert all(" trial" in line for line in Path("release.csv").read_text().splitlines()[1:])
    real = run(*arguments, LONG)
    assert (real.code, real.err) == (0, "")
    assert TRIAL not in real.out
    assert "trial" not in Path("release.csv").read_text()
    assert not dc.read_release("release.csv").trial


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_trial_stays_a_trial_in_its_file(ending: str, folder: Path) -> None:
    for command, more in RANDOM.items():
        out = f"{command}.{ending}"
        done = run("protect", command, "religion.csv", *more, "--trial", "-o", out, "--json")
        assert json.loads(done.out)["trial"] is True
        assert dc.read_release(out).trial


def test_records_that_are_sampled_or_swapped(folder: Path) -> None:
    rows = "".join(f"{'ns'[i % 2]},{'mf'[i % 3 % 2]}\n" for i in range(40))
    Path("people.csv").write_text(f"area,sex\n{rows}")
    for command in (
        ["sample-records", "people.csv", "--sample-size", 10, "-o", "out.csv"],
        ["swap-records", "people.csv", "--area", "area", "--match", "sex", "-o", "out.csv"],
    ):
        assert "seed 1 is short" in refused(run("protect", *command, "--seed", 1))
        assert not Path("out.csv").exists()
        assert run("protect", *command, "--seed", 1, "--trial").code == 0
        assert run("protect", *command, "--seed", LONG).code == 0
        Path("out.csv").unlink()


def test_assess_refuses_a_short_seed_unless_it_is_for_a_trial(folder: Path) -> None:
    table = dc.datasets.religion()
    with pytest.raises(dc.RequestError, match=r"seed 1 is short, below 2\^96.*trial=True"):
        dc.assess(table, seed=1)
    assert "seed 1 is short" in refused(run("assess", "religion.csv", "--seed", 1))
    assert not Path("religion.record.json").exists()
    tried = dc.assess(table, seed=1, trial=True)
    assert tried.release is not None
    assert tried.release.trial
    assert TRIAL in tried.sentence
    assert TRIAL in str(tried)
    assert tried.record["request"]["trial"] is True
    with pytest.raises(dc.RequestError, match="was made for a trial"):
        tried.release.write("release.csv")
    shown = run(
        "assess",
        "religion.csv",
        "--seed",
        1,
        "--trial",
        "-o",
        "release.parquet",
        "--report",
        "report.html",
        "--record",
        "religion.record.json",
    )
    assert TRIAL in " ".join(shown.out.split())
    assert dc.read_release("release.parquet").trial
    assert TRIAL in Path("report.html").read_text()
    assert dc.replay("religion.record.json").identical
    real = dc.assess(table, seed=LONG)
    assert real.release is not None
    assert not real.release.trial
    assert TRIAL not in real.sentence


def test_a_trial_is_neither_judged_nor_entered_for_publication(folder: Path) -> None:
    table = dc.datasets.religion()
    tried = dc.protect.random_rounding(table, 3, seed=1)
    assert TRIAL in str(tried)
    with pytest.raises(dc.RequestError, match="not judged for publication"):
        dc.assess(table, protection=tried)
    assert dc.assess(table, protection=tried, trial=True).trial
    tried.write("tried.csv", trial=True)
    assert "not judged for publication" in refused(run("assess", "religion.csv", "--released", "tried.csv"))
    assert run("assess", "religion.csv", "--released", "tried.csv", "--trial").code in (0, 1)
    with pytest.raises(dc.RequestError, match="not entered in a ledger, which holds what is published"):
        dc.Ledger("l.sqlite").add(tried, title="t")
    assert "not entered in a ledger" in refused(run("ledger", "add", "tried.csv", "--ledger", "l.sqlite"))
    assert dc.Ledger("l.sqlite").entries() == ()
    # Evaluation is not a publication.
    assert dc.risk(table, tried).value > 0
    assert run("audit", "tried.csv").code in (0, 1)


def test_a_trial_survives_copies() -> None:
    import copy
    import pickle

    tried = dc.protect.random_rounding(dc.datasets.sex(), 3, seed=1)
    assert copy.deepcopy(tried).trial
    assert pickle.loads(pickle.dumps(tried)).trial
    assert replace(tried, method="x").trial
    assert not Release(dc.datasets.sex()).trial


def digits(seed: int) -> list[str]:
    """Return the ways in which a seed may be written."""
    return [str(seed), f"{seed:,}", f"{seed:x}", f"{seed:X}", str(seed & (2**128 - 1)), f"{seed:e}"[:12]]


def test_the_seed_stands_in_nothing_that_is_published(folder: Path) -> None:
    for seed in (LONG, None):
        given = [] if seed is None else ["--seed", seed]
        common = ["assess", "religion.csv", "--method", "random-rounding:base=3"]
        found = dc.assess("religion.csv", protection="random-rounding:base=3", seed=seed)
        secret = found.record["request"]["seed"]
        data = found.to_dict()
        # The verdict on one draw of random rounding may be either; what is searched is what would be published.
        if found.verdict == "withhold":
            found = replace(found, verdict="protect")
            data = found.to_dict()
        assert found.release is not None
        files = [found.report(f"public.{form}", edition="public") for form in ("html", "md", "json")]
        files += write_pictures(data, folder, edition="public")
        files += [*found.release.write("release.csv"), *found.release.write("release.parquet")]
        dc.Ledger("l.sqlite").add(found.release, title=f"t {secret % 1000}")
        files.append(Path("l.sqlite"))
        for file in files:
            content = Path(file).read_bytes()
            assert not any(text.encode() in content for text in digits(secret)), file
        found.write_record("r.json")
        assert str(secret).encode() in Path("r.json").read_bytes()
        for command in (common, ["assess", "religion.csv"]):
            shown = run(*command, *given, "--json", "--edition", "public", "-o", "out.csv", "--record", "r.json")
            secret = json.loads(Path("r.json").read_text())["request"]["seed"]
            for text in digits(secret):
                assert text not in shown.out
                assert not Path("out.csv").exists() or text not in Path("out.csv").read_text()


def test_the_seed_of_protect_stands_nowhere(folder: Path) -> None:
    for command, more in RANDOM.items():
        for ending in ("csv", "parquet"):
            out = Path(f"out.{ending}")
            done = run("protect", command, "religion.csv", *more, "--seed", LONG, "-o", out, "--json")
            assert done.code == 0, done
            for text in digits(LONG):
                assert text not in done.out
                assert text.encode() not in out.read_bytes()


def test_the_page_draws_a_seed_of_its_own_for_every_request() -> None:
    static = Path(dc.__file__).parent / "workbench" / "static"
    code = {file.name: file.read_text() for file in static.glob("*.js")}
    assert not any("seed: 1" in text for text in code.values())
    assert "crypto.getRandomValues(new Uint32Array(4))" in code["state.js"]
    assert all("seedFor(" in code[name] for name in ("protect.js", "decide.js", "compare.js"))


def test_a_short_seed_is_found_and_a_drawn_one_is_not() -> None:
    """The attack: draw again with every seed there is, and keep those that give what is published."""
    table = dc.datasets.religion()
    published = dc.protect.cell_key(table, seed=137)
    assert published.trial
    assert [seed for seed in range(200) if _same(dc.protect.cell_key(table, seed=seed), published)] == [137]
    drawn = dc.protect.cell_key(table)
    assert not any(_same(dc.protect.cell_key(table, seed=seed), drawn) for seed in range(200))


def _same(one: Release, other: Release) -> bool:
    if one.inner is not None and other.inner is not None:
        return one.inner == other.inner
    return all(np.array_equal(a.values, b.values) for a, b in zip(one.parts(), other.parts(), strict=True))
