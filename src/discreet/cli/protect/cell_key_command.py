"""``discreet protect cell-key``: perturbation tables and record keys; and ``ptable``, which designs a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import options, show
from discreet.cli.compose import command, option, panel
from discreet.cli.options import in_output
from discreet.cli.protect.method_fields import command_of
from discreet.cli.reading_options import in_records, opened
from discreet.core.errors import RequestError
from discreet.protect.cell_key import CellKey, KeyedTable, PTable, design_ptable, read_ptable
from discreet.tabulation.spec import KEYS

if TYPE_CHECKING:
    from discreet.reading.opened import Opened
    from discreet.reading.reading import Reading

in_noise = panel("Noise")


@dataclass(frozen=True)
class Noise:
    """The noise of a perturbation table that is designed."""

    bound: Annotated[int | None, in_noise("The largest noise; 5 by default.", min=1)] = None
    variance: Annotated[float | None, in_noise("The variance of the noise; 3 by default.")] = None
    minimum: Annotated[int | None, in_noise("The least count above 0 that is published.", min=1)] = None
    stay: Annotated[float | None, in_noise("The least probability that a count stays.")] = None
    monotone: Annotated[bool, in_noise("Larger noise is never more likely than smaller.")] = False

    def table(self) -> PTable:
        """Return the perturbation table."""
        given = {"bound": 5, "variance": 3.0, **{name: one for name, one in vars(self).items() if one is not None}}
        return design_ptable(**given)


def _cell_key(
    made: Callable[..., CellKey],
    ptable: Annotated[Path | None, in_noise("A perturbation table, instead of a designed one.")] = None,
    *,
    noise: Noise,
    record_key: Annotated[str | None, in_records("The column of record keys.")] = None,
    key_range: Annotated[int | None, in_records("Keys run from 0 to below this; 1 for fractions.", min=1)] = None,
    secret: Annotated[Path | None, in_records("A file with the secret that keys are hashed with.")] = None,
    identify: Annotated[str | None, in_records("Columns that identify a record, for --secret.")] = None,
) -> CellKey:
    if ptable is not None and noise != Noise():
        raise RequestError("--ptable gives the noise; leave out --bound, --variance, --minimum, --stay, --monotone")
    return made(ptable=noise.table() if ptable is None else read_ptable(ptable))


def _read(file: Path | None, reading: Reading, given: dict[str, Any]) -> Callable[[], Opened | KeyedTable]:
    """Take the options of record keys, and return what reads the original."""
    key, key_range, secret, identify = (given.pop(name) for name in ("record_key", "key_range", "secret", "identify"))
    if key is None and secret is None:
        if identify is not None or key_range is not None:
            raise RequestError("--identify and --key-range are about record keys; give --secret, or --record-key")
        return lambda: opened(file, reading)
    if reading.by is None or file is None:
        raise RequestError("record keys belong to records; name their file, and the columns that classify them (--by)")
    if reading.weight is not None:
        raise RequestError(
            "record keys perturb counts and sums of the records themselves, not weighted ones; leave --weight out, or "
            "the keys"
        )
    if secret is not None and (identify is None or key_range is not None):
        raise RequestError("--secret hashes the columns that identify a record; name them with --identify alone")
    if key is not None and identify is not None:
        raise RequestError("records have keys of their own (--record-key); leave --identify out")
    most = max(2, len((given["largest_weights"] or "").split(",")))

    def read() -> KeyedTable:
        with show.ProgressBar() as bar:
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


@command
def ptable(
    example: Annotated[
        str | None, option("A bundled table: also say how many of its counts the noise leaves as they are.")
    ] = None,
    *,
    noise: Noise,
    output: Annotated[Path | None, in_output("Write it: .txt or .csv.")] = None,
    json: options.Json = False,
) -> None:
    """Design a perturbation table for cell keys: for each count the noise with the largest entropy.

    The file is that of the R package ptable, which cellKey and τ-ARGUS read.

    Examples:
        discreet protect ptable --bound 5 --variance 3 --minimum 3 -o ptable.txt  # no 1 and 2 are published
        discreet protect ptable --example religion  # and what the noise does to a bundled table
    """
    show.check_output(output, endings=(".txt", ".csv"))
    made = noise.table()
    stays = "" if example is None else _staying(made, example)
    if output is not None:
        made.write(output)

    def face(console: show.Console) -> None:
        head = made.face(0)
        console.print(f"{head.sentence}\n{stays}")
        rows = [
            [
                row[0],
                ", ".join(f"{noise} with {p}" for noise, p in zip(head.header[1:-1], row[1:-1], strict=True) if p),
                row[-1],
            ]
            for row in head.rows
        ]
        show.table(console, ["count", "noise and its probability", "variance"], rows, left=(0, 1))
        if output is not None:
            show.written(console, output)

    show.deliver("protect ptable", made, json, None, face)


def _staying(ptable: PTable, example: str) -> str:
    """Say how many counts of a bundled table are expected to stay."""
    from discreet import datasets

    counts = datasets.load(example).counts.tolist()
    expected = sum(ptable.probabilities(count)[ptable.bound] for count in counts)
    return f"Of the {len(counts):,} counts of {example} that are not 0, {expected:.1f} stay as they are on average.\n"


COMMANDS = {"cell-key": command_of(CellKey, _cell_key, read=_read), "ptable": ptable}
