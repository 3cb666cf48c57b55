"""Statistics beside the figures: what each is computed from, how it was rounded, and so what it says about them.

Percentages, rates, ratios, means, growth and differences are one thing: a sum of figures, or its ratio to another sum,
printed to some decimals. Read backwards, a printed ratio bounds one sum by multiples of the other, in integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from discreet.core.errors import DataError, DiscreetError, RequestError, nearest, require
from discreet.core.json_types import Json, JsonObject
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.text import Readable, decimal_text
from discreet.table.grid import Copied

LINEAR = {
    "percentage": 100, "rate": 1000, "ratio": 1, "mean": 1, "difference": 1, "growth": 100, "index": 100,
    "cumulative": 100,
}  # fmt: skip
"""Statistics that are linear in the figures, and by what each is multiplied unless the definition says otherwise."""
OF_VALUES = ("median", "quantile", "minimum", "maximum", "variance", "variance-n", "deviation", "deviation-n", "gini")
"""Statistics of the respondents' values, which are settled by enumerating them; those with -n divide by their number,
the others by one less. A quantile is the smallest value that at least its share of respondents do not exceed."""
OTHER = "other"
"""A statistic without a definition; what it gives away is not judged, and so never called safe."""
PRINTED = -1
"""Each entry was rounded to the decimals that it shows."""
ROUNDINGS = ("conventional", "half-even", "down", "unknown")
"""How a statistic was rounded: half away from 0, half to even, towards 0, or nobody knows."""
MADE_OF = ("values", "figures")
"""What a statistic was computed from: the true values, or the figures as they are published."""
WHERE = ("shown", "safe")
"""Where a statistic is published beside a release: where its figures are shown, or wherever that is safe."""
MOST_DECIMALS = 9
"""The most decimals of a statistic: more exceed what the integers of the equations can hold."""


class Admitted(NamedTuple):
    """The values that printed ones were rounded from, in halves of the last decimal; an open end is not among them."""

    low: IntArray
    high: IntArray
    open_low: BoolArray
    open_high: BoolArray


def admitted(printed: IntArray, rounding: str, step: IntArray | int = 1) -> Admitted:
    """Return the values that round to printed ones, both in the last decimal; ends are in halves of it.

    Those that were printed to fewer decimals are multiples of a larger ``step``.

    >>> found = admitted(np.array([3, 0, -3]), "conventional")
    >>> found.low.tolist(), found.high.tolist(), found.open_low.tolist(), found.open_high.tolist()
    ([5, -1, -7], [7, 1, -5], [False, True, True], [True, True, False])
    """
    require([rounding], ROUNDINGS, "there is no rounding")
    twice, above, below = 2 * printed, printed > 0, printed < 0
    if rounding == "conventional":
        return Admitted(twice - step, twice + step, ~above, ~below)
    if rounding == "half-even":
        odd = printed // step % 2 == 1
        return Admitted(twice - step, twice + step, odd, odd)
    low, high = twice - 2 * step, twice + 2 * step
    if rounding == "down":
        return Admitted(np.where(above, twice, low), np.where(below, twice, high), ~above, ~below)
    whole = np.ones(printed.shape, bool)
    return Admitted(low, high, whole, whole)


@dataclass(frozen=True, repr=False)
class Statistic(Copied, Readable):
    """The definition of a column of statistics: its kind, what it is computed from, and how it was rounded.

    Attributes:
        kind: one of :data:`LINEAR` or :data:`OF_VALUES`.
        of: the measure above the line, a column of the table; nothing for the figures themselves, and, for a mean, for
            a sum that is not published.
        per: the measure below the line, a column of the table or a number; nothing for the figures themselves.
        over: the cell below the line: for a dimension its total (an empty label), or another label.
        along: the dimension along which a statistic accumulates, or grows from one category to the next.
        times: what the ratio is multiplied by, as 100 for per cent or 1000 for a rate per thousand.
        rounding: one of :data:`ROUNDINGS`.
        decimals: to how many it was rounded; by default those that all entries show, and :data:`PRINTED` if they
            differ.
        step: it was rounded to multiples of this many units of the last decimal; rounded down, it is the start of a
            range.
        made_of: ``"figures"`` if it was computed from the figures as published, rounded or perturbed.
        variable: the name of the respondents' values. Statistics of the same variable are judged together.
        unit: how many decimals respondents' values have.
        least: a lower bound on every respondent's value; None if it may be negative.
        most: an upper bound on every respondent's value.
        share: the share of respondents below a quantile.
        threshold: it is published only where the value below the line is at least this.
        where: it is published where its figures are ``"shown"``, or, of true values beside suppressed figures, wherever
            the audit finds that ``"safe"``.
        extremes: whether 0 and 100 per cent are published; they say the same about everybody in a group.
        inside: the column in whose entries it is in brackets: 19 (6.1%); anything for a cross-table.
        ending: the ending of column names that hold it in a cross-table, beside those of figures: men n, men %.

    >>> Statistic("percentage", over={"sex": ""})
    percentage of the figures over sex
    >>> Statistic.of_text("percentage, of=passed, per=n, rounding=down")
    percentage of passed per n, rounded down
    """

    kind: str
    of: str = ""
    per: str = ""
    over: Mapping[str, str] = field(default_factory=dict)
    along: str = ""
    times: int = 0
    rounding: str = "conventional"
    decimals: int | None = None
    step: int = 1
    made_of: str = "values"
    variable: str = "value"
    unit: int = 0
    least: int | None = 0
    most: int | None = None
    share: Fraction = Fraction(1, 2)
    threshold: int = 0
    where: str = "shown"
    extremes: bool = True
    inside: str = ""
    ending: str = ""

    def __post_init__(self) -> None:
        require([self.kind], (*LINEAR, *OF_VALUES, OTHER), "there is no statistic")
        require([self.rounding], ROUNDINGS, "there is no rounding")
        require([self.made_of], MADE_OF, "a statistic is not made of")
        require([self.where], WHERE, "a statistic is not published where it is")
        object.__setattr__(self, "over", MappingProxyType(dict(self.over)))
        object.__setattr__(self, "times", self.times or LINEAR.get(self.kind, 1))
        if self.times < 1:
            raise RequestError(f"a {self.kind} is multiplied by {self.times}; give 1 or more (times=)")
        if self.decimals is not None and not PRINTED <= self.decimals <= MOST_DECIMALS:
            raise RequestError(f"a statistic has {self.decimals} decimals; give 0 to {MOST_DECIMALS} (decimals=)")
        if not 1 <= self.step <= 10**MOST_DECIMALS:
            raise RequestError(f"a statistic is rounded to multiples of {self.step}; give 1 or more (step=)")
        if not 0 <= self.unit <= 6:
            raise RequestError(f"respondents' values have {self.unit} decimals; give 0 to 6 (unit=)")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise RequestError(f"respondents' values lie between {self.least} and {self.most}; swap the ends (range=)")
        if not 0 < self.share < 1:
            raise RequestError(f"the share of a quantile is {self.share}; give one between 0 and 1 (share=)")
        self._check_line()

    def _check_line(self) -> None:
        """Refuse a definition that does not say what is below the line."""
        base = self.per or self.over or self.along
        if self.kind in ("percentage", "rate", "ratio", "difference", "index") and not base:
            raise RequestError(
                f"nothing says what a {self.kind} is of; name the dimensions that are summed over below the line "
                "(over=sex), or the column (per=n)"
            )
        if self.kind == "cumulative" and not self.along:
            raise RequestError("nothing says along which dimension percentages accumulate; name it (along=age)")
        if self.kind == "growth" and not base:
            raise RequestError(
                "nothing says what growth is against; name the dimension of time (along=year) or the column (per=y2023)"
            )
        same = (self.of or "figures") == (self.per or "figures")
        if self.linear and not self.of_values and same and not (self.over or self.along):
            raise RequestError(f"a {self.kind} of {self.of or 'the figures'} per itself says nothing; change of or per")
        whole = self.constant is None and not any(self.over.values()) and not (self.per and self.over)
        if not self.extremes and self.kind != "cumulative" and not (self.kind == "percentage" and whole):
            raise RequestError(
                f"extremes=no is about 0 and 100 per cent of a whole, and a {self.kind} like this may be of something "
                "else; name the whole (over=sex, per=n), or leave it out"
            )
        if self.made_of == "figures" and not self.linear:
            raise RequestError(f"a {self.kind} is of respondents' values, not of figures; leave out made_of=")

    @property
    def linear(self) -> bool:
        """Whether it is a ratio or difference of sums."""
        return self.kind in LINEAR

    @property
    def of_values(self) -> bool:
        """Whether it is about values of respondents that no table adds up."""
        return self.kind in OF_VALUES or (self.kind == "mean" and not self.of)

    @property
    def constant(self) -> Fraction | None:
        """The number below the line, None where figures are there."""
        return Fraction(self.per) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", self.per) else None

    @property
    def is_share(self) -> bool:
        """Whether what is above the line is a part of what is below it in every cell."""
        return self.kind == "percentage" and bool(self.per) and self.constant is None and not self.over

    @property
    def sum_name(self) -> str:
        """What the sum of respondents' values is called."""
        return f"sum of {self.variable}"

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns that it is computed from beside the figures themselves."""
        named = [self.of, "" if self.constant is not None else self.per]
        return tuple(dict.fromkeys(name for name in named if name))

    def renamed(self, names: Mapping[str, str]) -> Statistic:
        """Return it for a table with some of its dimensions called by other names."""
        over = {names.get(name, name): label for name, label in self.over.items()}
        return replace(self, over=over, along=names.get(self.along, self.along))

    @classmethod
    def of_text(cls, text: str) -> Statistic:
        """Return the statistic that a text defines: ``percentage, over=sex, rounding=down``."""
        kind, *rest = (item.strip() for item in text.split(","))
        given = {"kind": kind}
        for item in rest:
            key, equals, value = (part.strip() for part in item.partition("="))
            if not equals or not value:
                raise RequestError(f"{item!r} in the statistic {text!r} says nothing; write KEY=VALUE, as over=sex")
            given[key] = f"{given[key]}+{value}" if key in given else value
        return cls.of_data(given)

    @classmethod
    def of_data(cls, data: JsonObject) -> Statistic:
        """Return the statistic that plain data define, numbers and lists as texts or as they are."""
        given = dict(data)
        if "range" in given:
            ends = re.fullmatch(r"(-?[0-9]+)?\.\.(-?[0-9]+)?", str(given.pop("range")))
            if ends is None:
                raise RequestError(f"the range {data['range']!r} is not a range; write LOW..HIGH, as 0..125")
            given["least"], given["most"] = (None if end is None else int(end) for end in ends.groups())
        known = [item.name for item in fields(cls)]
        require(given, known, "a statistic has no")
        if "over" in given and not isinstance(given["over"], Mapping):
            names = given["over"].split("+") if isinstance(given["over"], str) else given["over"]
            pairs = (str(name).partition(":") for name in names)
            given["over"] = {name.strip(): label.strip() for name, _, label in pairs}
        if str(given.get("extremes", "yes")) not in ("yes", "no", "True", "False"):
            raise RequestError(f"extremes is {given['extremes']!r}; say whether 0 and 100% are published: yes or no")
        given |= {"extremes": str(given["extremes"]) in ("yes", "True")} if "extremes" in given else {}
        if given.get("decimals") == "printed":
            given["decimals"] = PRINTED
        try:
            given |= {
                key: int(given[key])
                for key in ("times", "decimals", "step", "unit", "threshold")
                if given.get(key) is not None
            }
            given |= {"share": Fraction(str(given["share"]))} if "share" in given else {}
        except ValueError:
            raise RequestError(
                f"times, decimals and unit of a statistic are integers; {dict(data)} has others"
            ) from None
        given |= {key: value.strip() for key, value in given.items() if isinstance(value, str)}
        return cls(**given)

    def ratio(self, above: int, below: int | None, decimals: int) -> Fraction | None:
        """Return the statistic of figures in units of their last decimal; None where it is not defined."""
        if self.constant is not None:
            return Fraction(above, 10**decimals) / self.constant * self.times
        if below is None or (self.kind != "difference" and below <= 0):
            return None
        if self.kind == "difference":
            return Fraction(above - below, 10**decimals)
        return Fraction(above, below) * self.times - (self.times if self.kind == "growth" else 0)

    def value(self, above: int, below: int | None, decimals: int) -> int | None:
        """Return the statistic in units of its last decimal; None where it is not defined or not published.

        >>> Statistic("percentage", over={"sex": ""}, decimals=1).value(2, 3, 0)
        667
        """
        ratio = self.ratio(above, below, decimals)
        few = below is not None and below < self.threshold * 10**decimals
        if ratio is None or few or (not self.extremes and ratio in (0, 100)):
            return None
        scaled = abs(ratio) * 10 ** max(self.decimals or 0, 0) / self.step
        whole, rest = divmod(scaled.numerator, scaled.denominator)
        tie = 2 * rest - scaled.denominator
        up = {"conventional": tie >= 0, "half-even": tie > 0 or (tie == 0 and whole % 2 == 1), "down": False}
        return (-1 if ratio < 0 else 1) * (int(whole) + int(up[self.rounding])) * self.step

    def to_dict(self) -> dict[str, Json]:
        """Return what is said, as plain data."""
        said: dict[str, Json] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "over":
                said |= {"over": dict(value)} if value else {}
            elif value != item.default and not (item.name == "times" and value == LINEAR.get(self.kind, 1)):
                said[item.name] = str(value) if isinstance(value, Fraction) else value
        if self.decimals == PRINTED:
            said["decimals"] = "printed"
        return said

    @property
    def definition(self) -> str:
        """What is said, as the text that :meth:`of_text` takes; nothing where a label or name has signs of such texts.

        >>> Statistic.of_text("quantile, share=1/4, range=0..125, over=sex:m+age").definition
        'quantile, over=sex:m+age, share=1/4, range=0..125'
        """
        said = self.to_dict()
        if {"least", "most"} & set(said):
            ends = ("" if end is None else str(end) for end in (self.least, self.most))
            said = {key: value for key, value in said.items() if key not in ("least", "most")}
            said["range"] = "..".join(ends)
        if self.over:
            said["over"] = "+".join(f"{name}:{label}" if label else name for name, label in self.over.items())
        words = {True: "yes", False: "no"}
        texts = (f"{key}={words[value] if isinstance(value, bool) else value}" for key, value in said.items())
        text = ", ".join([self.kind, *(text for text in texts if not text.startswith("kind="))])
        try:
            return text if Statistic.of_text(text) == self else ""
        except DiscreetError:
            return ""

    def __str__(self) -> str:
        if self.kind == OTHER:
            return "a statistic that is not judged"
        if self.of_values:
            text = f"{self.kind} of {self.variable}"
        else:
            per = f" per {self.per}" if self.per else ""
            over = ", ".join(f"{name}={label}" if label else name for name, label in self.over.items())
            text = f"{self.kind} of {self.of or 'the figures'}{per}{f' over {over}' if over else ''}"
            text += f" along {self.along}" if self.along else ""
        rounding = {"conventional": "", "unknown": ", rounded in a way that is not known"}
        made = f", to multiples of {self.step}" if self.step > 1 else ""
        made += ", made of published figures" if self.made_of == "figures" else ""
        return text + rounding.get(self.rounding, f", rounded {self.rounding}") + made


@dataclass(frozen=True, eq=False, repr=False)
class StatisticColumn(Copied, Readable):
    """The statistics of one kind beside a table: a row for each that is shown, with its cell.

    ``codes`` are those of the table's labels. ``values`` are in units of the last decimal; ``printed`` says to how many
    decimals each was printed, where some have fewer.

    >>> column = StatisticColumn("pct", Statistic("percentage", over={"sex": ""}), [[0], [1]], [130, 87], 1)
    >>> column.text(0), column
    ('13.0%', pct: percentage of the figures over sex, 2 shown)
    """

    name: str
    statistic: Statistic
    codes: IntArray
    values: IntArray
    decimals: int = 0
    printed: IntArray | None = None

    def __post_init__(self) -> None:
        if self.printed is None:
            object.__setattr__(self, "printed", np.full(np.size(self.values), self.decimals))
        for attribute in ("codes", "values", "printed"):
            array = np.array(getattr(self, attribute), np.int64)
            array.flags.writeable = False
            object.__setattr__(self, attribute, array)
        if self.codes.ndim != 2 or self.codes.shape[0] != self.values.size:
            raise DataError(f"{self.name}: give every statistic a value and a label along each dimension")
        share = self.statistic.kind in ("percentage", "cumulative") and self.statistic.times * 10**self.decimals
        if (self.values % self.statistic.step).any():
            odd = int(self.values[self.values % self.statistic.step != 0][0])
            raise DataError(
                f"{self.name} is {odd / 10**self.decimals:g}, no multiple of {self.statistic.step} units of its last "
                "decimal; correct one of them (step=)"
            )
        wrong = (self.values < 0) | (self.values > share)
        # Figures below the line that are another cell's need not contain those above it.
        if share and wrong.any() and not any(self.statistic.over.values()):
            raise DataError(
                f"{self.name} is {int(self.values[wrong][0]) / 10**self.decimals:g}, which is not a share of a whole; "
                "where it is a ratio, say so (ratio, times=100)"
            )

    @property
    def admitted(self) -> Admitted:
        """The values that each statistic was rounded from, in halves of the last decimal."""
        step = self.statistic.step * 10 ** (self.decimals - self._printed)
        return admitted(self.values, self.statistic.rounding, step)

    @property
    def _printed(self) -> IntArray:
        return np.asarray(self.printed, np.int64)

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, columns as lists."""
        return {
            "name": self.name,
            "statistic": self.statistic.to_dict(),
            "codes": self.codes.T.tolist(),
            "values": self.values.tolist(),
            "decimals": self.decimals,
            "printed": self._printed.tolist(),
        }

    @classmethod
    def from_dict(cls, data: JsonObject) -> StatisticColumn:
        """Return what :meth:`to_dict` wrote."""
        values, statistic = np.array(data["values"], np.int64), Statistic.of_data(data["statistic"])
        codes = np.array(data["codes"], np.int64).reshape(-1, values.size).T
        return cls(data["name"], statistic, codes, values, data["decimals"], np.array(data["printed"], np.int64))

    def text(self, row: int) -> str:
        """Return a statistic as it is printed."""
        decimals = int(self._printed[row])
        shown = decimal_text(int(self.values[row]) // 10 ** (self.decimals - decimals), decimals)
        return f"{shown}%" if self.statistic.times == 100 and self.statistic.kind != "index" else shown

    def __len__(self) -> int:
        return int(self.values.size)

    def __str__(self) -> str:
        return f"{self.name}: {self.statistic}, {len(self):,} shown"


Definitions: TypeAlias = Mapping[str, object] | Sequence[str] | None
"""Statistics by column, or texts ``COLUMN=DEFINITION``."""


def statistics_of(definitions: Definitions) -> dict[str, Statistic]:
    """Return statistics by the columns that they are in, from texts ``COLUMN=DEFINITION`` or plain data.

    >>> statistics_of(["pct=percentage, over=sex"])
    {'pct': percentage of the figures over sex}
    """
    if not isinstance(definitions, Mapping):
        found = {}
        for text in definitions or ():
            name, equals, rest = text.partition("=")
            if not equals or not rest.strip():
                raise RequestError(f"the statistic {text!r} has no definition; write COLUMN=KIND, as 'pct=percentage'")
            if name.strip() in found:
                raise RequestError(f"the statistic {name.strip()!r} is defined twice; keep one definition")
            found[name.strip()] = Statistic.of_text(rest)
        return found
    made = {}
    for name, given in definitions.items():
        if isinstance(given, Statistic):
            made[name] = given
        elif isinstance(given, Mapping):
            if "kind" not in given:
                raise RequestError(f"the statistic {name!r} has no kind; {nearest('', (*LINEAR, *OF_VALUES))}")
            made[name] = Statistic.of_data(given)
        else:
            made[name] = Statistic.of_text(str(given))
    return made
