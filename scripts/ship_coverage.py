"""Put a finished coverage study in its place in the package: ``python scripts/ship_coverage.py DIR``.

The study is made by ``evenhand simulate coverage --out DIR --jobs 2``.
"""

import sys
from pathlib import Path

import evenhand.data
from evenhand.simulate.coverage import designs
from evenhand.simulate.coverage_study import CELLS_FILE, FACTS_FILE, code_digest
from evenhand.simulate.coverage_table import CoverageTable
from evenhand.simulate.covered import covered

BANKS = 2_000

if __name__ == "__main__":
    source, target = Path(sys.argv[1]), Path(evenhand.data.__path__[0])
    cells, facts = ((source / name).read_text(encoding="utf-8") for name in (CELLS_FILE, FACTS_FILE))
    table = CoverageTable.parse(cells, facts)
    if len(table.cells) != len(covered()) * len(designs()):
        sys.exit(f"{source}: {len(table.cells)} cells; a whole study has {len(covered()) * len(designs())}")
    if table.facts["banks"] != BANKS:
        print(f"{source}: {table.facts['banks']} banks a cell; the shipped study should have {BANKS:,}")
    if table.facts["code_sha256"] != code_digest():
        print(f"{source}: made by other code than that of this tree; run the study again before a release")
    for name, text in ((CELLS_FILE, cells), (FACTS_FILE, facts)):
        (target / name).write_text(text, encoding="utf-8", newline="\n")
        print(target / name)
