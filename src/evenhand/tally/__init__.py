"""The only code that turns rows into tallies."""
