"""How results are shown: plain data for programs, aligned columns in a terminal, HTML in a notebook."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from discreet.core.json_types import Json


def figure(value: float | None, digits: int = 4) -> str:
    """Return a figure in readable form; a missing one is a dash.

    >>> figure(0.23147), figure(None), figure(float("nan")), figure(float("inf"))
    ('0.2315', '–', '–', '∞')
    """
    if value is None or value != value:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}f}"


def at_most(value: float, digits: int = 4) -> str:
    """Return an upper bound, rounded up: the printed value is never below the true bound.

    >>> at_most(0.60953), at_most(0.1 + 0.2, 2), at_most(float("inf"))
    ('0.6096', '0.30', '∞')
    """
    return _bounded(value, digits, math.ceil)


def at_least(value: float, digits: int = 4) -> str:
    """Return a lower bound, rounded down.

    >>> at_least(1.45999, 3), at_least(2.0, 3)
    ('1.459', '2.000')
    """
    return _bounded(value, digits, math.floor)


def _bounded(value: float, digits: int, towards: Callable[[float], int]) -> str:
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "-∞"
    # Arithmetic on floating-point numbers may be off by a little: 0.1 + 0.2 is no more than 0.3.
    return f"{towards(round(value * 10**digits, 6)) / 10**digits:,.{digits}f}"


def brief(value: float, digits: int = 4) -> str:
    """Return a probability or an expected number to some digits; a tiny one is shown as "below" a bound.

    >>> brief(0.0403269), brief(1.126e-268), brief(0.0), brief(12345.6)
    ('0.04033', '< 0.0001', '0', '12,346')
    """
    if 0 < value < 1e-4:
        return "< 0.0001"
    return f"{value:,.0f}" if value >= 10**digits else f"{value:.{digits}g}"


def finite(value: float) -> float | int | None:
    """Return a figure as JSON writes it; what is infinite or undefined is None.

    >>> finite(3.0), finite(0.5), finite(float("inf"))
    (3, 0.5, None)
    """
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def number_text(value: float | None, decimals: int | None = None) -> str:
    """Return a number with separators, to six decimals unless more or fewer are asked for; a missing one is a dash.

    >>> number_text(12345), number_text(1234567.5), number_text(12.5, 2), number_text(None), number_text(-math.inf)
    ('12,345', '1,234,567.5', '12.50', '–', '-∞')
    """
    if value is None or value != value:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.6f}".rstrip("0").rstrip(".")


def many_text(value: float) -> str:
    """Return how many there are, as a power of ten from a thousand millions on.

    >>> many_text(999_999_999), many_text(27_836_710_258), many_text(math.inf)
    ('999,999,999', '2.8·10^10', '∞')
    """
    if value < 10**9 or math.isinf(value):
        return number_text(value)
    power = len(str(int(value))) - 1
    return f"{int(value) / 10**power:.1f}·10^{power}"


def grouped_text(text: str) -> str:
    """Return a text with separators between thousands if it is a number, and as it is otherwise.

    >>> grouped_text("1953119.50"), grouped_text("-12"), grouped_text("x"), grouped_text("1,234")
    ('1,953,119.50', '-12', 'x', '1,234')
    """
    number = re.fullmatch(r"(-?)([0-9]+)((?:\.[0-9]+)?)", text)
    return text if number is None else f"{number[1]}{int(number[2]):,}{number[3]}"


def decimal_text(value: int, decimals: int) -> str:
    """Return one integer in units of the last decimal as decimal text.

    >>> decimal_text(-1250, 2), decimal_text(7, 0)
    ('-12.50', '7')
    """
    if not decimals:
        return str(value)
    sign, digits = "-" if value < 0 else "", str(abs(value)).rjust(decimals + 1, "0")
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


def many(count: int, what: str) -> str:
    """Return how many there are of something.

    >>> many(1, "figure"), many(2000, "figure")
    ('1 figure', '2,000 figures')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def settings_text(settings: Mapping[str, object]) -> str:
    """Return named settings in readable form, without those that are off, empty or not set.

    >>> settings_text({"base": 3, "additive": True, "match": [], "keys": ["age", "sex"], "time_limit": None})
    'base 3, additive, keys age and sex'
    >>> settings_text({"share": 0.1, "weights": [1.0, 0.5]})
    'share 0.1, weights 1 and 0.5'
    >>> settings_text({"recoding": {"age": {"1": "1", "2": "2,3", "3": "2,3"}}})
    'recoding age: 2 and 3 into 2,3'
    >>> settings_text({"steps": [{"name": "table-swapping", "rate": 0.1}, {"name": "random-rounding", "base": 3}]})
    'steps table-swapping (rate 0.1) then random-rounding (base 3)'
    >>> settings_text({"method": "fast", "cost": "value", "form": "marks"})
    'search fast, cost value, hidden figures as marks'
    """
    return ", ".join(filter(None, (_setting(setting_name(name), value) for name, value in settings.items())))


def setting_name(name: str) -> str:
    """Return what people call a setting: some are called otherwise in Python."""
    return {"method": "search", "form": "hidden figures as"}.get(name, name.replace("_", " "))


def _setting(name: str, value: object) -> str:
    if value is True:
        return name
    if value is None or value is False or (isinstance(value, Sequence | Mapping) and not value):
        return ""
    if isinstance(value, Mapping):
        return f"{name} {'; '.join(f'{key}: {_mapped(one)}' for key, one in value.items())}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        if all(isinstance(one, Mapping) and "name" in one for one in value):
            return f"{name} {' then '.join(map(_step, value))}"
        return f"{name} {listed(value)}"
    return f"{name} {_plain(value)}"


def _plain(value: object) -> str:
    """Return a value as people write it: 1, not 1.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _step(step: Mapping[str, object]) -> str:
    """Return one of several methods with its settings."""
    said = settings_text({key: one for key, one in step.items() if key != "name"})
    return f"{step['name']} ({said})" if said else str(step["name"])


def _mapped(value: object) -> str:
    """Return the groups that categories go into, those of one category left out; anything else as it is."""
    if not isinstance(value, Mapping):
        return str(value)
    groups: dict[str, list[object]] = {}
    for category, group in value.items():
        groups.setdefault(str(group), []).append(category)
    return ", ".join(f"{listed(parts)} into {group}" for group, parts in groups.items() if parts != [group])


def listed(items: Sequence[object]) -> str:
    """Return a list in words.

    >>> listed(["age"]), listed(["age", "sex", "area"])
    ('age', 'age, sex and area')
    """
    texts = [listed(one) if isinstance(one, list | tuple) else _plain(one) for one in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1]))) if texts else "none"


def choices(names: Iterable[str]) -> str:
    """Return what can be chosen from, as it is given.

    >>> choices(["fast", "optimal"]), choices(["auto", "long", "wide"])
    ("'fast' or 'optimal'", "'auto', 'long' or 'wide'")
    """
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last


def one_line(text: str) -> str:
    r"""Return a text without line breaks and other control characters, which are shown as escapes.

    >>> one_line("north\neast")
    'north\\neast'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return an aligned text table; the first `left` columns are flush left, the others flush right.

    >>> print(columns(["row", "risk"], [["a", "0.5"], ["bcd", "12.5"]]))
    row  risk
    a     0.5
    bcd  12.5
    """
    shown = [[one_line(text) for text in line] for line in [header, *rows]]
    widths = [max(len(line[i]) for line in shown) for i in range(len(header))]
    lines = []
    for line in shown:
        cells = [
            text.ljust(width) if i < left else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, caption: str = "") -> str:
    """Return an HTML table with every text escaped.

    >>> "&lt;b&gt;" in html_table(["a"], [["<b>"]])
    True
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        aligned = (
            f'<{tag} style="text-align:{"left" if i < left else "right"}">{html.escape(text)}</{tag}>'
            for i, text in enumerate(cells)
        )
        return f"<tr>{''.join(aligned)}</tr>"

    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{title}<thead>{line('th', header)}</thead><tbody>{body}</tbody></table>"


class Readable:
    """Base of classes that an interpreter shows as they read."""

    def __repr__(self) -> str:
        """Return the readable form."""
        return str(self)


class Face(NamedTuple):
    """A table that shows a result, and the sentence above it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    sentence: str = ""
    left: int = 1


class Result(Readable):
    """Base of results: data classes that show themselves as a table, in text and in HTML."""

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        return dict(vars(self))

    def face(self, most: int) -> Face:
        """Return what is shown; a long list is cut to its first or worst rows."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the sentence and the table as text."""
        header, rows, sentence, left = self.face(10)
        return f"{sentence}\n{columns(header, rows, left)}" if sentence else columns(header, rows, left)

    def _repr_html_(self) -> str:
        header, rows, sentence, left = self.face(20)
        return html_table(header, rows, left, sentence)
