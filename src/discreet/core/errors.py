"""The errors a user can meet, grouped by what the user can do about them.

Every message names the offender, shows both figures where two disagree, and ends with the remedy.
The command line prints the message on one line and exits with code 2; no traceback reaches a user.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

BOTH = re.compile(r"\(((?:[a-z_]+=|[A-Za-z]+\.[a-z])[^()]*?(?:\([^()]*\)[^()]*?)?), ((?:--|discreet )[^()]*)\)")
"""A remedy in Python and at the command line: arguments and options (by=, --by), functions and commands."""
_BOTH_SHOWN: list[bool] = []
"""Not empty while the command line runs, which picks the options itself."""


class DiscreetError(Exception):
    """Anything that discreet refuses to do, with the reason and the remedy in its message.

    A remedy is written for both readers, as ``(by=, --by)``. Python shows the argument, the command line the option.

    >>> str(DiscreetError("name the columns (by=, --by)")), with_options("name the columns (by=, --by)")
    ('name the columns (by=)', 'name the columns (--by)')
    """

    def __str__(self) -> str:
        """Return the message for people who work in Python."""
        return with_arguments(super().__str__())


def with_arguments(text: str) -> str:
    """Return a text for people who work in Python; while the command line runs, both are kept for it to choose from.

    >>> with_arguments("give more (limits=, --min-width, --max-dr)"), with_options("give more (limits=, --width, --dr)")
    ('give more (limits=)', 'give more (--width, --dr)')
    >>> with_arguments("see what it says (dc.audit, discreet audit)"), with_options("see it (dc.audit, discreet audit)")
    ('see what it says (dc.audit)', 'see it (discreet audit)')
    """
    return text if _BOTH_SHOWN else BOTH.sub(r"(\1)", text)


def with_options(text: str) -> str:
    """Return a message for people at the command line."""
    return BOTH.sub(r"(\2)", text)


def without_remedies(text: str) -> str:
    """Return a text for people who read a report, and run nothing.

    >>> without_remedies("it is applied if you ask for it (protection=, --method).")
    'it is applied if you ask for it.'
    """
    return re.sub(rf" ?{BOTH.pattern}", "", text)


@contextmanager
def both_shown() -> Iterator[None]:
    """Keep arguments and options in messages, for whoever shows them to choose from: the command line, a report."""
    _BOTH_SHOWN.append(True)
    try:
        yield
    finally:
        _BOTH_SHOWN.pop()


class DataError(DiscreetError):
    """The data are at fault: correct the file or the table."""


class RequestError(DiscreetError):
    """The request is at fault: change an option or an argument."""


class InfeasibleError(DiscreetError):
    """No answer exists under the given constraints: relax one of them."""


class LimitError(DiscreetError):
    """The work would exceed a limit of size, time or precision: raise the limit or ask for less."""


class LateError(LimitError):
    """Time was up before there was an answer; with more of it there may be one."""


@contextmanager
def undamaged(what: str, remedy: str) -> Iterator[None]:
    """Refuse data of discreet's own that do not hold what they should, wherever that shows."""
    try:
        yield
    except (DiscreetError, OSError, MemoryError):
        raise
    except Exception as error:
        # Whatever stumbles over what is missing or of another type: there is no end to the ways.
        told = str(error).splitlines()[0][:200] if str(error) else ""
        raise DataError(f"{what} is damaged ({type(error).__name__}: {told}); {remedy}") from error


def require(wanted: Iterable[str], known: Collection[str], missing: str) -> None:
    """Refuse the first name that is not known: say what is missing, what there is, and what was probably meant."""
    for name in wanted:
        if name not in known:
            raise RequestError(f"{missing} {name!r}; {nearest(name, list(known))}")


def nearest(name: str, available: list[str] | tuple[str, ...]) -> str:
    """Say what is there, and what the user probably meant.

    >>> nearest("regoin", ["region", "age"])
    "did you mean 'region'? There are: 'region', 'age'"
    """
    import difflib

    shown = ", ".join(repr(item) for item in available[:12])
    more = f" and {len(available) - 12} more" if len(available) > 12 else ""
    close = difflib.get_close_matches(name, list(available[:10_000]), n=1)
    hint = f"did you mean {close[0]!r}? There" if close else "there"
    return f"{hint} are: {shown}{more}"
