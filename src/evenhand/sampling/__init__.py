"""Which responses to have labelled by people: drawing them, sheets that do not give the judge away, and reading those back."""
