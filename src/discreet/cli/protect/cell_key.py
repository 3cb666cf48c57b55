"""``discreet protect`` by cell keys, and the perturbation tables that this needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, show
from discreet.cli.original_options import RECORDS
from discreet.cli.protect.common import opened, protects
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.reading.reading import Reading

NOISE, AMOUNTS = "Noise", "Magnitudes"

Bound = Annotated[
    int | None, typer.Option("--bound", help="The largest noise; 5 by default.", min=1, rich_help_panel=NOISE)
]
Variance = Annotated[
    float | None, typer.Option("--variance", help="The variance of the noise; 3 by default.", rich_help_panel=NOISE)
]
Minimum = Annotated[
    int | None,
    typer.Option("--minimum", help="The least count above 0 that is published.", min=1, rich_help_panel=NOISE),
]
Stay = Annotated[
    float | None, typer.Option("--stay", help="The least probability that a count stays.", rich_help_panel=NOISE)
]
Monotone = Annotated[
    bool, typer.Option("--monotone", help="Larger noise is never more likely than smaller.", rich_help_panel=NOISE)
]


def cell_key(
    ptable: Annotated[
        Path | None,
        typer.Option("--ptable", help="A perturbation table, instead of a designed one.", rich_help_panel=NOISE),
    ] = None,
    bound: Bound = None,
    variance: Variance = None,
    minimum: Minimum = None,
    stay: Stay = None,
    monotone: Monotone = False,
    with_margins: Annotated[
        bool, typer.Option("--with-margins", help="Publish the margins of a table too, each with its own noise.")
    ] = False,
    additive: Annotated[
        bool,
        typer.Option("--additive", help="Margins of records are sums of what is published, and tell nothing more."),
    ] = False,
    key: Annotated[
        str | None, typer.Option("--key", help="The column of record keys.", rich_help_panel=RECORDS)
    ] = None,
    key_range: Annotated[
        int | None,
        typer.Option(
            "--key-range", help="Keys run from 0 to below this; 1 for fractions.", min=1, rich_help_panel=RECORDS
        ),
    ] = None,
    secret: Annotated[
        Path | None,
        typer.Option("--secret", help="A file with the secret that keys are hashed with.", rich_help_panel=RECORDS),
    ] = None,
    identify: Annotated[
        str | None,
        typer.Option("--identify", help="Columns that identify a record, for --secret.", rich_help_panel=RECORDS),
    ] = None,
    share: Annotated[
        float, typer.Option("--share", help="The largest noise, of the largest contribution.", rich_help_panel=AMOUNTS)
    ] = 0.1,
    weights: Annotated[
        str,
        typer.Option("--weights", help="How much the largest contributions count, as 1,0.5.", rich_help_panel=AMOUNTS),
    ] = "1",
) -> Any:
    """Add to every cell and margin the noise that its key picks from a perturbation table.

    A cell's key is the sum of its records' keys, so that the same people get the same noise in every table. Without
    record keys, keys are drawn for this table alone.

    The noise has mean 0 and the variance asked for at every count, and the largest entropy that a bound allows; cells
    need not add up to margins. Neither keys nor the secret are in what is written.
    """
    from discreet.protect.cell_key import CellKey

    table = _ptable(ptable, bound, variance, minimum, stay, monotone)
    return CellKey(table, share, _weights(weights), with_margins, additive)


def _ptable(
    file: Path | None,
    bound: int | None,
    variance: float | None,
    minimum: int | None,
    stay: float | None,
    monotone: bool,
) -> Any:
    from discreet.protect.cell_key import design_ptable, read_ptable

    if file is not None:
        if any(option is not None for option in (bound, variance, minimum, stay)) or monotone:
            raise RequestError("--ptable gives the noise; leave out --bound, --variance, --minimum, --stay, --monotone")
        return read_ptable(file)
    return design_ptable(
        5 if bound is None else bound,
        3.0 if variance is None else variance,
        minimum=1 if minimum is None else minimum,
        stay=0.0 if stay is None else stay,
        monotone=monotone,
    )


def _weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise RequestError(f"--weights is {text!r}; give numbers with commas, as 1,0.5") from None


def _read(file: Path | None, reading: Reading, given: dict[str, Any]) -> Callable[[], Any]:
    """Take the options of record keys, and return what reads the original."""
    key, key_range, secret, identify = (given.pop(name) for name in ("key", "key_range", "secret", "identify"))
    if key is None and secret is None:
        if identify is not None or key_range is not None:
            raise RequestError("--identify and --key-range are about record keys; give --secret, or --key")
        return lambda: opened(file, reading)
    if reading.by is None or file is None:
        raise RequestError("record keys are of records; name their file, and with --by the columns that classify them")
    if reading.weight is not None:
        raise RequestError(
            "record keys perturb counts and sums of the records themselves, not weighted ones; leave --weight out, or "
            "the keys"
        )
    if secret is not None and (identify is None or key_range is not None):
        raise RequestError("--secret hashes the columns that identify a record; name them with --identify alone")
    if key is not None and identify is not None:
        raise RequestError("records have keys of their own (--key); leave --identify out")
    most = max(2, len(given["weights"].split(",")))

    def read() -> Any:
        from discreet.protect.cell_key import KeyedTable
        from discreet.tabulation.spec import KEYS

        with show.Bar() as bar:
            return KeyedTable.from_records(
                file,
                reading.by,
                key=key,
                key_range=KEYS if key_range is None else key_range,
                identify=options.names(identify) or (),
                secret=None if secret is None else _secret(secret),
                value=reading.value,
                contributor=reading.contributor,
                hierarchies=reading.hierarchies,
                total=reading.total_code,
                top=most,
                **reading.text,
                progress=bar,
            )

    return read


def _secret(path: Path) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror or error}); name the file of the secret") from None


def ptable(
    bound: Bound = 5,
    variance: Variance = 3.0,
    minimum: Minimum = 1,
    stay: Stay = 0.0,
    monotone: Monotone = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it: .txt or .csv.", rich_help_panel=options.OUTPUT)
    ] = None,
    json: options.Json = False,
) -> None:
    """Design a perturbation table for cell keys: for each count the noise with the largest entropy.

    The file is that of the R package ptable, which cellKey and τ-ARGUS read.
    """
    show.check_output(output, endings=(".txt", ".csv"))
    made = _ptable(None, bound, variance, minimum, stay, monotone)
    if output is not None:
        made.write(output)

    def face(console: Any) -> None:
        console.print(str(made), markup=False, soft_wrap=True)
        if output is not None:
            console.print(f"\nWritten: {output}", style="dim", markup=False)

    show.deliver("protect ptable", made, json, None, face)


ptable.__doc__ = options.explained(
    ptable, {"discreet protect ptable --bound 5 --variance 3 --minimum 3 -o ptable.txt": "no 1 and 2 are published"}
)

COMMANDS = {
    "cell-key": protects(
        cell_key,
        {
            "discreet protect cell-key religion.csv --bound 2 --variance 1 -o release.csv": "one table",
            "discreet protect cell-key people.parquet --by area,sex --key rkey -o release.csv": "records with keys",
            "discreet protect cell-key people.csv --by area,sex --secret key.txt --identify id -o r.csv": "hashed",
            "discreet protect cell-key firms.csv --by area --value turnover --key k --share 0.1 -o r.csv": "amounts",
        },
        read=_read,
        linked=True,
    ),
    "ptable": ptable,
}
