"""Opening files in a real browser, and what See tells of the table that was opened."""

from __future__ import annotations

import itertools
import json
import shlex
from typing import Any

import pytest
from tests.cli.running import run
from tests.workbench.people import Person
from tests.workbench.serving import serving

pytestmark = pytest.mark.xdist_group("workbench")

DROP = """([name, text]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], name));
    document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true }));
}"""
LIGHTNESS = """() => [1, 2, 3, 4, 5].map((k) => {
    const cell = document.createElement('i');
    cell.style.backgroundColor = `var(--r${k})`;
    document.body.append(cell);
    const [r, g, b] = getComputedStyle(cell).backgroundColor.match(/[0-9.]+/g).map(Number);
    cell.remove();
    return [r, g, b];
})"""
SIGHT = {
    "all colours": ((0.2126, 0.7152, 0.0722),) * 3,
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""How people see red, green and blue who lack one kind of cones (Machado, Oliveira and Fernandes 2009)."""


def test_a_dropped_file_is_read_and_can_be_read_otherwise(opened: Any) -> None:
    text = "area,sex,count,weight\nn,f,3,7\nn,m,4,8\ns,f,5,9\ns,m,6,10\n"
    with serving() as server:
        person = Person(opened, server.address)
        page = person.page
        page.evaluate(DROP, ["people.csv", text])
        page.wait_for_selector("#recognised")
        assert page.get_attribute("[data-file='people.csv']", "aria-pressed") == "true"
        page.click("summary:has-text('Not right?')")
        for name, given in {"layout": "long", "count": "weight", "dimensions": "area,sex"}.items():
            page.fill(f"input[name={name}]", given)
        page.click("text=Read it again")
        page.wait_for_function("() => document.querySelector('#command').textContent.includes('--count=weight')")
        page.wait_for_selector(".grid [role=gridcell]:has-text('10')")
        page.click("#use")
        page.wait_for_selector(".terms")
        assert "--count=weight" in person.command() or "--count weight" in person.command()
        person.leave()


def test_an_example_shows_the_risk_of_rows_and_columns_and_its_three_terms(opened: Any) -> None:
    measured = json.loads(run("risk", "--example", "religion", "--json").out)
    with serving() as server:
        person = Person(opened, server.address)
        page = person.page
        page.click("[data-example=religion]")
        page.wait_for_selector("#use")
        page.click("#use")
        page.wait_for_selector(".terms")
        terms = ", ".join(f"{name} {measured['terms'][name]:.4f}" for name in ("zeros", "concentration", "size"))
        assert terms in [node.get_attribute("aria-label") for node in page.query_selector_all(".terms")]
        shown = person.text(".grid")
        for dimension in ("output_area", "religion"):
            first = next(one for one in measured["slices"] if one["dimension"] == dimension)
            assert f"{first['value']:.4f}" in shown, first
        assert shlex.split(person.command())[0] == "discreet"
        person.leave()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_risk_keep_their_order_for_everybody(opened: Any, scheme: str) -> None:
    with serving() as server:
        person = Person(opened, server.address, scheme=scheme)
        colours = person.page.evaluate(LIGHTNESS)
        person.leave()
    for sight, rows in SIGHT.items():
        light = []
        for colour in colours:
            linear = [(v / 255 / 12.92) if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
            seen = [sum(weight * v for weight, v in zip(row, linear, strict=True)) for row in rows]
            light.append(sum(weight * v for weight, v in zip((0.2126, 0.7152, 0.0722), seen, strict=True)))
        steps = [b - a for a, b in itertools.pairwise(light)]
        assert all(step < -0.01 for step in steps) or all(step > 0.004 for step in steps), (sight, light)
