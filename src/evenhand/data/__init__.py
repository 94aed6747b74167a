"""Data shipped with the package: numbers only, with their sources in README.md."""
