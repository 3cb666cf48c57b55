"""An option that takes one value is given once: of two policies, or two lists of columns, the first is not dropped."""

from __future__ import annotations

from collections import Counter

from discreet.cli.typer_types import Command, Context, Parameter


def refuse_twice(command: Command) -> None:
    """Have a command refuse an option that is given more often than it takes values; typer keeps the last."""
    made = command.make_parser

    def strict(context: Context) -> object:
        parser = made(context)
        parse = parser.parse_args

        def once(args: list[str]) -> tuple[object, object, list[Parameter]]:
            options, rest, order = parse(args=args)
            for parameter, times in Counter(order).items():
                if times > 1 and parameter.param_type_name == "option" and not (parameter.multiple or parameter.count):
                    context.fail(_told(parameter, times))
            return options, rest, order

        parser.parse_args = once
        return parser

    command.make_parser = strict


def _told(parameter: Parameter, times: int) -> str:
    several = ", with commas between its values" if "comma-separated" in (parameter.help or "") else ""
    return f"{parameter.opts[0]} is given {times} times; give it once{several}"
