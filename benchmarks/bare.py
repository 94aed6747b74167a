"""The least that any audit of verdicts must do: python benchmarks/bare.py FILE.parquet

Counts by cluster and criterion and totals by response, fetched into Python, and nothing else: no check of a key, a
label or an id, no interval, no report. What evenhand takes is measured in multiples of this.
"""

import sys

import duckdb

path = sys.argv[1].replace("'", "''")
connection = duckdb.connect()
cells = connection.execute(
    "SELECT cluster_id, criterion, count(*) FILTER (reference = 0 AND judge = 0), count(*) FILTER (reference = 0 AND judge = 1), "
    "count(*) FILTER (reference = 1 AND judge = 0), count(*) FILTER (reference = 1 AND judge = 1) "
    f"FROM '{path}' GROUP BY cluster_id, criterion"
).fetchall()
totals = connection.execute(
    f"SELECT response_id, count(*), sum(reference), sum(judge) FROM '{path}' GROUP BY response_id"
).fetchall()
print(f"{len(cells):,} cells, {len(totals):,} responses")
