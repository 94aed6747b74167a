"""The simulations, one file each: a module with ``command`` is a subcommand of ``evenhand simulate``."""
