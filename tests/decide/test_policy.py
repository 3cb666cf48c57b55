from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import RequestError
from discreet.decide.policy import Policy
from discreet.decide.policy_texts import key_lines, profiles


@pytest.mark.parametrize("name", list(profiles()))
def test_every_profile_is_valid_and_says_what_it_is(name: str) -> None:
    policy = Policy.load(name)
    assert policy.name == name
    assert policy.title
    assert policy.protections
    assert policy.judges(magnitudes=True)
    assert name in str(policy)
    assert "<table>" in policy._repr_html_()


def test_all_faults_are_reported_at_once_with_line_and_key() -> None:
    text = """extends = "default"
colour = "blue"
[rules]
treshold = 3
threshold = 0.5
dominance = [{ n = 2, k = 120 }]
[limits]
r2 = 1.7
dr = -1
levels = "sometimes"
[[protections]]
name = "random-rounding"
base = 1
[[protections]]
name = "random-roundin"
"""
    with pytest.raises(RequestError) as caught:
        Policy.from_text(text, "own.toml")
    message = str(caught.value)
    for line, key in [
        (2, "colour"),
        (4, "rules.treshold"),
        (5, "rules.threshold"),
        (6, "rules.dominance.0.k"),
        (8, "limits.r2"),
        (9, "limits.dr"),
        (10, "limits.levels"),
        (11, "protections.0"),
        (14, "protections.1"),
    ]:
        assert f"line {line}, {key}:" in message
    assert "did you mean 'threshold'?" in message
    assert "did you mean 'random-rounding'?" in message


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("weights = [0.5, 0.5, 0.5]", "sum to 1.5"),
        ("weights = [1.0, nan, 0.0]", "weights"),
        ("[limits]\nr2 = 0", "greater than 0"),
        ("[limits]\nr2 = nan", "limits.r2"),
        ("[limits]\nwidth = -1", "greater than or equal to 0"),
        ("[rules]\npq = { p = 50, q = 10 }", "p is the smaller one"),
        ('[rules]\nlevel = "firm"', "rules.level"),
        ("extends = 3", "name one profile or file"),
        ('extends = "nobody"', "there is no policy 'nobody'"),
        ("[rules\nthreshold = 3", "is not TOML"),
        ('[[protections]]\nname = "random-rounding"\nbasis = 3', "no parameter 'basis'"),
        ("[[protections]]\nbase = 3", "protections.0.name"),
    ],
)
def test_what_cannot_be_is_refused(text: str, what: str) -> None:
    with pytest.raises(RequestError, match=what):
        Policy.from_text(text)


def test_a_policy_is_inherited_key_by_key_and_can_take_things_back(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(
        'extends = "default"\ntitle = "Ours"\n[rules]\nthreshold = 10\n[limits]\nr2 = "none"\n', encoding="utf-8"
    )
    (tmp_path / "strict.toml").write_text('extends = "ours.toml"\n[limits]\nwidth = 4\n', encoding="utf-8")
    default, ours = Policy.load("default"), Policy.load(tmp_path / "ours.toml")
    assert ours.rules.threshold == 10
    assert ours.rules.p_percent == default.rules.p_percent
    assert ours.limits.r2 is None
    assert ours.limits.dr == default.limits.dr
    assert ours.protections == default.protections
    strict = Policy.load(str(tmp_path / "strict.toml"))
    assert (strict.rules.threshold, strict.limits.width, strict.limits.r2) == (10, 4, None)
    assert strict.name == "strict"


def test_a_circle_of_policies_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('extends = "b.toml"\n', encoding="utf-8")
    (tmp_path / "b.toml").write_text('extends = "a.toml"\n', encoding="utf-8")
    with pytest.raises(RequestError, match="in a circle"):
        Policy.load(tmp_path / "a.toml")


def test_a_fault_of_the_policy_above_is_told_with_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "above.toml").write_text("[limits]\n\nr3 = 1\n", encoding="utf-8")
    (tmp_path / "below.toml").write_text('extends = "above.toml"\n', encoding="utf-8")
    with pytest.raises(RequestError, match=r"above\.toml: line 3, limits\.r3"):
        Policy.load(tmp_path / "below.toml")


def test_a_policy_comes_back_from_its_plain_data() -> None:
    policy = Policy.load("default")
    again = Policy.model_validate(policy.to_dict())
    assert again == policy
    assert again.sha256 == policy.sha256
    other = Policy.from_text('extends = "default"\n[rules]\nthreshold = 4', "own")
    assert other.sha256 != policy.sha256


def test_lines_of_keys_in_all_the_ways_toml_writes_them() -> None:
    text = """# a comment = 1
title = "a = b [not a table]"
"quoted key" = 1
limits.r2 = 0.5
rules = { threshold = 3 }
list = [
  1,  # two = 2
  { n = 1 },
]
after = 1
[a.b]
c = 1
[[many]]
x = 1
[[many]]
x = 2
"""
    lines = key_lines(text)
    assert lines[("title",)] == 2
    assert lines[("quoted key",)] == 3
    assert lines[("limits", "r2")] == 4
    assert lines[("rules",)] == 5
    assert lines[("list",)] == 6
    assert ("two",) not in lines
    assert lines[("after",)] == 10
    assert lines[("a", "b", "c")] == 12
    assert lines[("many", "1", "x")] == 16


def test_a_missing_file_and_a_wrong_name_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="does not exist"):
        Policy.load(tmp_path / "none.toml")
    with pytest.raises(RequestError, match="did you mean 'default'"):
        Policy.load("defualt")
