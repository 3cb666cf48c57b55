"""How people write cells: 19 (6.1%), 12.3 [10.1–14.5], 1 234, 3,5, <5, [REDACTED], 7*. Recognised, never taken as read.

A recognised form is shown with the option that confirms it; nothing is read in that form until then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NUMBER = r"[+-]?[0-9]+(?:[., '\u00a0\u202f’][0-9]+)*\s?[%‰]?"
SIGNS = "*†‡§#"
PLAIN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
FORMS = {
    "interval": re.compile(rf"({NUMBER})\s*[(\[]\s*{NUMBER}\s*(?:[-–—,;]|to)\s*{NUMBER}\s*[)\]]"),
    "brackets": re.compile(rf"(.*\S)\s*[(\[]\s*({NUMBER})\s*[)\]]"),
    "note": re.compile(rf"({NUMBER})\s?[{SIGNS}]+"),
    "below": re.compile(r"[<≤]\s?([0-9]+)"),
    "word": re.compile(r"\[[^\[\]]*[A-Za-z][^\[\]]*\]|\*+|[-–—]|(?i:redacted|suppressed|n/?a)"),
    "thousands": re.compile(r"[+-]?[0-9]{1,3}([ \u00a0\u202f'’])[0-9]{3}(?:\1[0-9]{3})*([.,][0-9]+)?"),
    "comma": re.compile(r"[+-]?[0-9]+,[0-9]+\s?[%‰]?"),
}


WITH_NUMBERS = ("interval", "brackets", "note", "thousands", "comma")
"""Forms of cells that hold numbers, perhaps not written plainly."""


def form_of(text: str) -> str:
    """Return the form of a cell, ``"number"`` for a plain one, and nothing for a label.

    >>> [form_of(text) for text in ("19 (6.1%)", "12.3 [10.1–14.5]", "1 234", "3,5", "<5", "[REDACTED]", "7*", "n1")]
    ['brackets', 'interval', 'thousands', 'comma', 'below', 'word', 'note', '']
    """
    bare = text.strip()
    if PLAIN.fullmatch(bare.rstrip("%‰ ")):
        return "number"
    return next((name for name, pattern in FORMS.items() if pattern.fullmatch(bare)), "")


def is_written(texts: Iterable[str]) -> bool:
    """Say whether every entry of a column is a figure in some form or a mark, and not all are plain numbers."""
    forms = [form_of(text) for text in texts if text]
    return bool(forms) and all(forms) and not {"number", *WITH_NUMBERS}.isdisjoint(forms) and set(forms) != {"number"}


def confirmations(column: str, texts: Sequence[str], where: str = "") -> list[str]:
    """Return what is recognised in a column of figures, and the option that confirms each.

    ``where`` are the figures of which statistics stand in brackets, where they are not in the column alone.

    >>> confirmations("cases", ["19 (6.1%)", "<5"])
    ["cases: 19 (6.1%) is a figure with a statistic behind it; say which (--statistic 'NAME=percentage, over=…, \
inside=cases')", "cases: <5 is a mark; say so (--mark '<5=1..4')"]
    """
    found: dict[str, str] = {}
    figures = {text.partition(" (")[0] for text in texts}
    several = sum(form_of(text) in ("below", "word") for text in figures) > 1
    for text in texts:
        form = form_of(text)
        if form == "brackets":
            how = f"--statistic 'NAME=percentage, over=…, inside={where or column}'"
            found.setdefault(form, f"{text} is a figure with a statistic behind it; say which ({how})")
        elif form == "interval":
            how = f"--statistic 'NAME=other, inside={column}'"
            found.setdefault(form, f"{text} is a value with an interval, which is not judged; say so ({how})")
        elif form == "note":
            signs = "".join(dict.fromkeys(sign for one in texts for sign in one if sign in SIGNS))
            found.setdefault(form, f"{text} is a number with a note; name the signs (--notes {signs!r})")
        elif form == "below":
            most = int(re.sub(r"\D", "", text)) - text.startswith("<")
            found.setdefault(text, f"{text} is a mark; say so (--mark '{text}=1..{most}')")
        elif form == "word":
            # Beside another mark, it has to say what it hides: anything, or less.
            found.setdefault(text, f"{text} is a mark; say so (--mark {text + '=..' * several!r})")
    if odd := _odd_number(texts):
        found["numbers"] = f"{odd[0]} is a number; say how numbers are written (--numbers {odd[1]!r})"
    return [f"{column}: {told}" for told in found.values()]


def _odd_number(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return a number that is not written plainly, and how all are written: 1 234,5; None where none is odd.

    >>> _odd_number(["19 (6.1%)", "1 234 (93.9%)"]), _odd_number(["12,3 [10,1–14,5]"]), _odd_number(["19 (6.1%)", "x"])
    (('1 234', '1 234.5'), ('12,3', '1234,5'), None)
    """
    forms = {text: form_of(text) for text in texts}
    inside = (one for text, form in forms.items() if form in WITH_NUMBERS for one in re.findall(NUMBER, text))
    found = {one: form_of(one) for one in (number.strip().rstrip("%‰ ") for number in inside)}
    odd = [one for one, form in found.items() if form in ("thousands", "comma")]
    if not odd:
        return None
    gaps = [gap[1] for one in odd if (gap := FORMS["thousands"].fullmatch(one)) is not None]
    point = any("." in one for one in found) and not any("," in one for one in found)
    return odd[0], f"1{gaps[0] if gaps else ''}234{'.' if point else ','}5"
