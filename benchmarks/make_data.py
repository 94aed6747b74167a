"""Make a file of verdicts: python benchmarks/make_data.py FOLDER [--responses N] [--layout wide] ...

Rows are drawn from a hash of (response, criterion), so the same options and DuckDB version give the same table. Criteria
differ in difficulty and responses in quality; the judge misses some 12 % of what is met, accepts some 8 % of what is
not, more or less so by cluster, and leaves 0.5 % of its verdicts out.
"""

import argparse
from pathlib import Path

import duckdb

UNIFORM = "(hash({key}) % 1000003)::DOUBLE / 1000003"


def uniform(*key: str) -> str:
    return UNIFORM.format(key=", ".join(key))


def verdicts(responses: int, clusters: int, criteria: int) -> str:
    """One row a verdict; without clusters (0) there is no cluster column."""
    cluster = f"(hash(r, 1) % {max(clusters, 1)})::INTEGER"
    met = f"({uniform('r', '2')} + {uniform('q', '3')} + c / {criteria}.0) / 3 > {uniform('r', 'c', '4')}"
    drawn = f"SELECT r, {cluster} AS q, c FROM range({responses}) a(r), range({criteria}) b(c)"  # every response × criterion
    errors = f"CASE WHEN met THEN 0.08 + 0.08 * {uniform('q', '5')} ELSE 0.05 + 0.06 * {uniform('q', '6')} END"
    judged = f"CASE WHEN {uniform('r', 'c', '7')} < 0.005 THEN NULL ELSE (met <> ({uniform('r', 'c', '8')} < {errors}))::TINYINT END"
    named_cluster = "printf('q%04d', q) AS cluster_id, " if clusters else ""
    return (
        f"SELECT printf('r%07d', r) AS response_id, {named_cluster}printf('c%02d', c + 1) AS criterion, "
        f"{judged} AS judge, met::TINYINT AS reference FROM (SELECT *, {met} AS met FROM ({drawn})) ORDER BY r, c"
    )


def widened(long: str, clusters: int, criteria: int) -> str:
    """One row a response, a judge and a reference column a criterion."""
    keys = "response_id, cluster_id" if clusters else "response_id"
    columns = [
        f"max({side}) FILTER (criterion = 'c{c:02d}') AS {side}_c{c:02d}"
        for c in range(1, criteria + 1)
        for side in ("reference", "judge")
    ]
    return f"SELECT {keys}, {', '.join(columns)} FROM ({long}) GROUP BY ALL ORDER BY response_id"


def make(
    folder: Path, *, responses: int, clusters: int, criteria: int = 10, layout: str = "long", form: str = "parquet"
) -> Path:
    """Write the file into the folder unless it is there, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{layout}_{responses}x{criteria}_{clusters}.{form}"
    if path.exists():
        return path
    sql = verdicts(responses, clusters, criteria)
    sql = widened(sql, clusters, criteria) if layout == "wide" else sql
    draft = path.with_suffix(".draft")
    place = str(draft).replace("'", "''")
    duckdb.execute(f"COPY ({sql}) TO '{place}' (FORMAT {form})")
    draft.rename(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--responses", type=int, default=500_000)
    parser.add_argument("--clusters", type=int, default=2_000, help="0: no cluster column")
    parser.add_argument("--criteria", type=int, default=10)
    parser.add_argument("--layout", choices=("long", "wide"), default="long")
    parser.add_argument("--format", dest="form", choices=("parquet", "csv"), default="parquet")
    print(make(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
