"""Makes the pictures of the documentation: ``make pictures``. Screenshots need Chromium, drawings Matplotlib."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from playwright.sync_api import Browser, sync_playwright

import discreet as dc
from discreet.measures.entropy import expected_transition

ASSETS = Path(__file__).parents[1] / "docs/assets"
INK, ACCENT, WARM, QUIET = "#1b2530", "#0f6b8f", "#dd6f36", "#9aa5af"


def main() -> int:
    """Draw and photograph everything."""
    mpl.rcParams.update({"svg.hashsalt": "discreet", "font.size": 11, "text.color": INK, "axes.edgecolor": QUIET})
    (ASSETS / "theory").mkdir(exist_ok=True)
    theorem_2()
    terms_of_r1()
    left_to_guess()
    roots()
    drawn_populations()
    alone_in_the_population()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        reports()
        with sync_playwright() as playwright:
            path = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            tutorial = ASSETS / "tutorial"
            photograph(browser, "religion.html", ASSETS / "report.png")
            photograph(browser, "census.html", tutorial / "census-report.png")
            photograph(browser, "census.html", tutorial / "census-sign.png", "#texts", "#sign")
            photograph(browser, "business.html", tutorial / "business-report.png")
            photograph(browser, "public.html", tutorial / "business-public.png")
            browser.close()
    return 0


def reports() -> None:
    """Write the reports of the tutorials, and the one of the guide."""
    signed = {"author": "A. Novak", "date": "2026-11-17"}
    dc.assess(dc.datasets.religion(), name="religion").report("religion.html", **signed)
    raw = ASSETS / "tutorial"
    census = dc.assess(raw / "census.csv", by=["area", "activity"], contributor="person", name="census")
    census.report("census.html", **signed)
    given = {"by": ["region", "industry"], "value": "turnover", "contributor": "firm", "name": "business"}
    business = dc.assess(raw / "business.csv", "business", **given)
    business.report("business.html", **signed)
    business.report("public.html", edition="public")


def photograph(browser: Browser, page: str, file: Path, first: str = "", last: str = "") -> None:
    """Take the first screen of a page, or all from one part to another."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    opened.goto(Path(page).resolve().as_uri())
    if not first:
        opened.screenshot(path=str(file))
    else:
        # The blocks between are long lists; the picture shows the two that the text is about.
        opened.add_style_tag(content=f"main > *:not({first}):not({last}), .top, .stamp {{ display: none }}")
        opened.locator("main").screenshot(path=str(file))
    opened.close()


def save(figure: Figure, name: str) -> None:
    """Write a drawing that is the same whenever it is drawn."""
    figure.savefig(ASSETS / "theory" / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})


def theorem_2() -> None:
    """Draw who stays and who moves when (5, 3, 2) is published as (3, 3, 4)."""
    figure = Figure((6.4, 2.9))
    axes = figure.add_subplot()
    moves = expected_transition([5, 3, 2], [3, 3, 4])
    for i, (before, after) in enumerate(zip((5, 3, 2), (3, 3, 4), strict=True)):
        axes.scatter([i + 0.12 * k for k in range(before)], [1] * before, s=90, color=ACCENT)
        axes.scatter([i + 0.12 * k for k in range(after)], [0] * after, s=90, color=ACCENT)
        axes.text(i - 0.1, 1.17, f"cell {i + 1}: F = {before}", va="bottom")
        axes.text(i - 0.1, -0.17, f"G = {after}", va="top")
    for i, row in enumerate(moves):
        for j, share in enumerate(row):
            if share:
                style = {"arrowstyle": "-|>", "lw": 1 + 4 * share, "color": ACCENT if i == j else WARM}
                axes.annotate("", (j + 0.15, 0.13), (i + 0.15, 0.87), arrowprops=style)
                at = (i + (j - i) * 0.25 + 0.24, 0.45 if i == j else 0.76)
                axes.text(*at, f"{share:g}", va="center", color=ACCENT if i == j else WARM)
    axes.set(xlim=(-0.2, 2.8), ylim=(-0.45, 1.45))
    axes.axis("off")
    save(figure, "theorem-2")


def terms_of_r1() -> None:
    """Draw the three terms of R1 for four tables of 40 people in eight cells."""
    tables = {
        "all cells equal\n5 5 5 5 5 5 5 5": [5] * 8,
        "uneven\n12 9 6 5 3 2 2 1": [12, 9, 6, 5, 3, 2, 2, 1],
        "half of it empty\n16 12 8 4 0 0 0 0": [16, 12, 8, 4, 0, 0, 0, 0],
        "one cell\n40 0 0 0 0 0 0 0": [40] + [0] * 7,
    }
    figure = Figure((6.8, 2.9))
    axes = figure.add_subplot()
    colours = {"zeros": QUIET, "concentration": ACCENT, "size": "#e0a526"}
    for row, counts in enumerate(tables.values()):
        at = 0.0
        terms = dc.risk(dc.Table.from_array(counts, ["cell"])).to_dict()["terms"]
        for name, colour in colours.items():
            axes.barh(row, terms[name], left=at, color=colour, label=name if row == 0 else None)
            at += terms[name]
        axes.text(at + 0.01, row, f"{at:.3f}", va="center")
    axes.set_yticks(range(len(tables)), list(tables))
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.1), xlabel="R1 and its three terms")
    axes.legend(frameon=False, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "terms-of-r1")


def left_to_guess() -> None:
    """Draw the disclosure risk against the number of values that are left."""
    import numpy as np

    figure = Figure((6.4, 2.9))
    axes = figure.add_subplot()
    values = np.arange(2, 41)
    axes.plot(values, 1 / np.log2(values), marker="o", markersize=4, color=ACCENT)
    for at, text in ((2, "2 values: 1"), (4, "4 values: 0.5"), (16, "16 values: 0.25")):
        axes.annotate(text, (at, 1 / np.log2(at)), (at + 1, 1 / np.log2(at) + 0.07))
    axes.set(xlabel="values that are left, all equally likely", ylabel="DR = 1/H", ylim=(0, 1.15))
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "left-to-guess")


def roots() -> None:
    """Draw what changes of 2 cost at different counts, by Hellinger's distance."""
    figure = Figure((6.4, 2.9))
    axes = figure.add_subplot()
    counts = [1, 3, 10, 30, 100]
    costs = [(count + 2) ** 0.5 - count**0.5 for count in counts]
    bars = axes.bar([f"{count} → {count + 2}" for count in counts], [cost**2 / 2 for cost in costs], color=ACCENT)
    axes.bar_label(bars, [f"{cost**2 / 2:.4f}" for cost in costs], padding=3)
    axes.set(ylabel="½(√F − √G)²", xlabel="a count and what is published", ylim=(0, 0.32))
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "roots")


def drawn_populations() -> None:
    """Draw a sample of 60 people, and what two models make of the population of 600 behind it."""
    import numpy as np

    from discreet.models import LogLinear, PolyaUrn

    sample = dc.Table.from_array([[20, 9, 4], [8, 6, 0], [10, 3, 0]], ["age", "area"])
    cells = np.arange(sample.size)
    figure = Figure((6.8, 3.1))
    axes = figure.add_subplot()
    axes.bar(cells, 10 * sample.to_array().ravel(), color="#dfe5ea", label="sample, times 10")
    looks = ((LogLinear(), ACCENT, "log-linear", -0.16), (PolyaUrn(), WARM, "Pólya urn", 0.16))
    for model, colour, name, shift in looks:
        drawn = model.population(sample, 600).draw(1, 2000)
        low, middle, high = np.quantile(drawn, [0.05, 0.5, 0.95], axis=0)
        axes.errorbar(
            cells + shift, middle, [middle - low, high - middle], fmt="o", color=colour, label=name, capsize=3
        )
    axes.set_xticks(cells, [str(count) for count in sample.to_array().ravel()])
    axes.set(xlabel="cells, by their count in the sample", ylabel="people in the population")
    axes.legend(frameon=False, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "drawn-populations")


def alone_in_the_population() -> None:
    """Draw how likely a sample unique is alone in the population, by the share that is sampled."""
    import numpy as np

    figure = Figure((6.4, 2.9))
    axes = figure.add_subplot()
    population, cells = 46_228, 1_108
    n = np.arange(1, population + 1)
    uniform = (n + cells - 1) * (n + cells - 2) / ((population + cells - 1) * (population + cells - 2))
    axes.plot(n / population, uniform, color=ACCENT)
    axes.plot(n / population, ((cells - 1) / cells) ** (population - n), color=WARM)
    axes.text(0.33, 0.45, "uniform prior", color=ACCENT)
    axes.text(0.58, 0.06, "multinomial prior", color=WARM)
    axes.axvline(8_399 / population, color=QUIET, linestyle="--")
    axes.text(8_399 / population + 0.01, 0.9, "the sample of cohen2009", color=INK)
    axes.set(xlabel="share of the population in the sample, n/N", ylabel="Q", ylim=(0, 1.02), xlim=(0, 1))
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "alone-in-the-population")


if __name__ == "__main__":
    sys.exit(main())
