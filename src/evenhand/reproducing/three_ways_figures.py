"""Zhu (2026)'s data figures as own drawings: figures 2, A.1 and A.2 from the numbers recomputed here."""

from collections.abc import Iterator, Sequence

from evenhand.report.curves import Curve, Point, curves
from evenhand.report.drawings import LineErrors, errors_by_line, joint_totals, totals
from evenhand.report.svg import Circle, Drawing, Label, Mark
from evenhand.reproducing.three_ways_bank import CUTS, BankNumbers, K
from evenhand.reproducing.three_ways_simulated import ERRORS, RELEASED_MEANS, RELEASED_SDS, controls
from evenhand.simulate.sweeps import SPREADS


def figures(bank: BankNumbers) -> Iterator[Drawing]:
    """Figure 2 from the released grid, figure A.1 from the bank, figure A.2 from both."""
    yield _grid()
    yield curves(
        "figure-2b",
        "KR-20 at 4.72 % judge error: the bank's spread moves it",
        "Mean KR-20 of 60 simulated banks at each spread, bars of one SD; the judge's error rate is the same throughout.",
        [_of_column("error 4.72 %", 1)],
        x_words="bank spread",
        y_words="KR-20",
    )
    yield curves(
        "figure-2c",
        "KR-20 at spread .8: judge error moves it less",
        "Mean KR-20 of 60 simulated banks at each error rate, bars of one SD; the bank's spread is .8 throughout.",
        [_of_row("spread .8", 4)],
        x_words="judge error, %",
        y_words="KR-20",
    )
    joint = [
        (int(row["reference_total"] or 0), int(row["judge_total"] or 0), int(row["n"] or 0))
        for row in bank.rows("totals/judge")
    ]
    yield totals("figure-a1a", joint, K)
    yield errors_by_line("figure-a1b", _positions(bank), n_worst=1, what="position")
    yield joint_totals("figure-a1c", joint, K)
    yield curves(
        "figure-a2a",
        "Φ(λ) is no accuracy: both at four cuts",
        "The judge's gate accuracy against gold, and Φ(λ) on its verdicts, at cuts 4 to 7; the gap runs from .22 to .38.",
        [
            Curve("accuracy", tuple(Point(cut, bank(f"accuracy[cut={cut}]/judge")) for cut in CUTS)),
            Curve("Φ(λ)", tuple(Point(cut, bank(f"phi_lambda[cut={cut}]/judge")) for cut in CUTS)),
        ],
        x_words="cut, lines",
        y_words="value",
    )
    estimand = controls()[1]
    yield curves(
        "figure-a2b",
        "Accuracy against the judge's own true score, and against gold",
        "A simulation without sampling of lines whose judge has a true score apart from gold: accuracy against it lies above "
        "accuracy against gold at every cut.",
        [
            Curve("own true score", _over_cuts(estimand.own[0])),
            Curve("gold", _over_cuts(estimand.reference[0])),
        ],
        x_words="cut, lines",
        y_words="accuracy",
    )


def _over_cuts(values: Sequence[float]) -> tuple[Point, ...]:
    return tuple(Point(cut, float(value)) for cut, value in zip(CUTS, values, strict=True))


def _of_column(name: str, column: int) -> Curve:
    points = (
        Point(spread, means[column], sds[column])
        for spread, means, sds in zip(SPREADS, RELEASED_MEANS, RELEASED_SDS, strict=True)
    )
    return Curve(name, tuple(points))


def _of_row(name: str, row: int) -> Curve:
    errors = (float(error.split()[0]) for error in ERRORS)
    points = zip(errors, RELEASED_MEANS[row], RELEASED_SDS[row], strict=True)
    return Curve(name, tuple(Point(*point) for point in points))


def _positions(bank: BankNumbers) -> list[LineErrors]:
    return [
        LineErrors(str(row["criterion"]), int(row["false_accepts"] or 0), int(row["false_rejects"] or 0))
        for row in bank.rows("criteria/judge")
    ]


def _grid() -> Drawing:
    """The full grid: a bubble a cell, its area KR-20, the number in it."""
    left, top, cell = 92.0, 34.0, 58.0
    marks: list[Mark] = [Label(left + 3 * cell, 14, "judge error", "middle")]
    for column, error in enumerate(ERRORS):
        marks.append(Label(left + (column + 0.5) * cell, top - 4, error, "middle"))
    for row, (spread, means) in enumerate(zip(SPREADS, RELEASED_MEANS, strict=True)):
        y = top + (row + 0.5) * cell
        marks.append(Label(left - 10, y + 4, f"spread {spread:.1f}", "end"))
        for column, mean in enumerate(means):
            x = left + (column + 0.5) * cell
            radius = 0.46 * cell * max(mean, 0.0) ** 0.5
            marks += [
                Circle(x, y, max(radius, 1.5), "bubble", f"spread {spread:g}, error {ERRORS[column]}: {mean:.3f}")
            ]
            marks.append(Label(x, y + 4, f"{mean:.3f}", "middle", "small"))
    return Drawing(
        "figure-2a",
        "Mean KR-20 by bank spread and judge error",
        "A bubble for each cell of the published grid, its area the mean KR-20 of 60 banks. Down a column the bank changes, "
        "along a row the judge does.",
        left + len(ERRORS) * cell + 8,
        top + len(SPREADS) * cell + 8,
        tuple(marks),
    )
