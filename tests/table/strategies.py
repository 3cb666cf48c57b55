"""Random tables for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from discreet.table import Table

ODD_LABELS = (
    "a,b",
    'say "hi"',
    '"',
    "two\nlines",
    "carriage\rreturn",
    "tab\there",
    " ",
    " padded ",
    "007",
    "7",
    "1.0",
    "-1",
    "nan",
    "NULL",
    "None",
    "true",
    "Zürich",
    "日本",
    "🙂",
    "e\u0301",
    "<b>&amp;",
    "[bold]",
    ":cat:",
    "a;b",
    "#x",
    "'",
    "\\",
    "a\\b",
    "%s",
    "count",
    "area",
    "possible",
)
labels = st.sampled_from(ODD_LABELS) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6
).filter(lambda text: text.casefold() != "total")
names = st.sampled_from(("area", "sex", "age group", "größe", "a,b", 'the "x"', "x\ny", "col\\umn", "7", "Total", "_"))


@st.composite
def tables(draw: st.DrawFn, max_dimensions: int = 4, structural: bool = True, plain: bool = False) -> Table:
    """Tables of a few dimensions with odd names and labels, mostly empty or mostly full."""
    length = draw(st.integers(1, max_dimensions))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=length, max_size=length)))
    counts = np.array(draw(st.lists(COUNTS, min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))), np.int64)
    if plain:
        return Table.from_array(counts.reshape(shape), [f"d{i}" for i in range(length)])
    header = draw(st.lists(names, min_size=length, max_size=length, unique=True))
    categories = [draw(st.lists(labels, min_size=size, max_size=size, unique=True)) for size in shape]
    impossible = None
    if structural and draw(st.booleans()):
        chosen = draw(st.lists(st.booleans(), min_size=counts.size, max_size=counts.size))
        impossible = (np.array(chosen) & (counts == 0)).reshape(shape)
    return Table.from_array(counts.reshape(shape), dict(zip(header, categories, strict=True)), impossible=impossible)


COUNTS = st.sampled_from((0, 0, 0, 1, 2, 3, 10)) | st.integers(0, 10**12)
