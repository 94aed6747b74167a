"""Doors for data: each module turns one kind of source into a relation of text columns."""
