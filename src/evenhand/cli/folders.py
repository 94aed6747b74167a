"""Groups of commands whose members are found by their files: one module a command, each with ``command``."""

import importlib
import pkgutil
from types import ModuleType
from typing import Any

import click

from evenhand.errors import did_you_mean


class FolderGroup(click.Group):
    """The modules of a package as commands, imported when called."""

    def __init__(self, *arguments: Any, package: ModuleType, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: D102  as click has it
        del ctx
        return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(self.package.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: D102  as click has it
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{self.package.__name__}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(  # noqa: D102  as click has it
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as problem:
            raise click.UsageError(
                problem.message.rstrip(".") + did_you_mean(args[0], self.list_commands(ctx)), ctx
            ) from None
