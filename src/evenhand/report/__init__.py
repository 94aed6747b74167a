"""Sections that read a saved audit and nothing else."""
