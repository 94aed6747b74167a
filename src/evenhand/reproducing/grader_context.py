"""A study of graders that are told about the student (RQ1 to RQ6): what its text fixes, recomputed from what it prints.

Its corpora and marks are not at hand, so a line is exact only where a formula, a rule or printed numbers determine another
printed number to its digits. Where the rounding of the inputs leaves it open, or a reading of the text had to be chosen, the
line says "not determined" and shows how near it comes; it fails where the inputs rule the printed number out.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import default_rng

from evenhand.reproducing.lines import Line, held_exactly, identity, not_computed, numbers, statement
from evenhand.simulate.loop import Cohort, Course, simulate_course
from evenhand.stats import calibration
from evenhand.stats import loop as of
from evenhand.stats.arrays import Array
from evenhand.stats.generalizability import reliability_of_mean
from evenhand.stats.marks import level_tables, lin_ccc, mark_sums
from evenhand.stats.weighted_agreement import quadratic_weighted_kappa

SOURCE = "a study of LLM graders told about the student (Porcaro), release ai-grader-reliability-2026"
N_TABLES = 300
_SEED = 3
_MODELS = ("Gemini 3.5 Flash Lite", "GPT-4.1-mini", "GPT-5-mini", "Qwen3-235B")
# intercept, slope, fitted and latent label effect, shift, interaction, as printed
_FITS = np.array(
    [
        [1.28, 0.82, 0.093, 0.1028, -0.022, -0.012],
        [1.41, 0.56, 0.100, 0.1100, -0.154, -0.022],
        [1.83, 0.57, 0.140, 0.1544, -0.285, -0.029],
        [1.56, 0.52, 0.199, 0.2200, -0.071, -0.074],
    ]
)
_QWK_MARGIN, _MAE_MARGIN = 0.02, 0.10


def grader_context() -> tuple[Line, ...]:
    """Every line, in the order of the text."""
    return (*_measures(), *_original_contrast(), *_verdicts(), *_calibration(), *_exemplars(), *_loop(), *_groups())


def reached(place: str, quantity: str, published: str, inputs: Sequence[str], formula: Callable[..., float]) -> Line:
    """A printed number that a formula gives of other printed numbers, each known to half a unit of its last digit.

    Exact where the inputs as printed give it; not determined where only some inputs that round to them do; it differs
    where none does. The formula is taken at the corners of what the inputs may be: it must be monotone in each there.
    """
    reach = [(float(text), 0.5 * 10.0 ** -len(text.partition(".")[2])) for text in inputs]
    corners = [formula(*ends) for ends in itertools.product(*((value - half, value + half) for value, half in reach))]
    line = held_exactly(place, quantity, published, formula(*(value for value, _ in reach)))
    half = 0.5 * 10.0 ** -len(published.partition(".")[2])
    low, high = min(corners), max(corners)
    if line.fails and low - half - 1e-9 <= float(published) <= high + half + 1e-9:
        why = f"inputs as printed give {line.recomputed}; rounded as they are, they allow {low:.4f} to {high:.4f}"
        return not_computed(place, quantity, published, "not determined", why)
    return line


def _measures() -> Iterator[Line]:
    place, rng = "measures, quadratic-weighted kappa", default_rng(_SEED)
    apart = []
    for _ in range(N_TABLES):
        pair, zeros = rng.integers(0, 11, (2, 40)), np.zeros(40, dtype=np.int64)
        table = level_tables(pair[0], pair[1], 11, zeros, 1)[0]
        apart.append(quadratic_weighted_kappa(table, range(11)) - lin_ccc(mark_sums(pair[0], pair[1], zeros, 1)[0]))
    yield identity(place, "QWK is Lin's concordance", "2s_xy/(s_x²+s_y²+d²)", float(np.abs(apart).max()), N_TABLES)

    def kept(kappa: float, before: float, after: float) -> float:
        spread = 3.15**2 + 2.91**2
        return kappa * (spread + before**2) / (spread + after**2)

    costs = [one - kept(one, 0.0, 0.59) for one in (0.840, 0.853)]
    yield statement(
        place, "cost of an offset of .59", "0.016", " and ".join(f"{one:.4f}" for one in costs),
        holds=all(f"{one:.3f}" == "0.016" for one in costs), note="from either kappa that is printed for these marks, .840 and .853",
    )  # fmt: skip
    whole, part = kept(0.840, 0.32, 0.0) - 0.840, kept(0.840, 0.38, 0.06) - 0.840
    why = (
        f"from which offset .32 is taken is not said: {whole:.4f} where it is all there is, {part:.4f} from .38 to .06, the biases of "
        "the arms that differ by it"
    )
    yield not_computed(place, "gain where an offset of .32 is removed", "0.0065", "not determined", why)


def _original_contrast() -> Iterator[Line]:
    place = "RQ2, the original contrast"
    for model, high, low, printed in (
        (_MODELS[0], "0.21", "-0.27", "0.48"),
        (_MODELS[1], "0.03", "-0.21", "0.24"),
        (_MODELS[2], "0.00", "-0.54", "0.54"),
    ):
        yield reached(place, f"high minus low, {model}", printed, (high, low), lambda one, other: one - other)
    place = "RQ2, the label effect as the mean of its tails"
    for model, whole, high, low in (
        (_MODELS[0], "0.37", "0.42", "0.32"),
        (_MODELS[1], "0.38", "0.50", "0.26"),
        (_MODELS[2], "0.52", "0.57", "0.47"),
        (_MODELS[3], "0.75", "0.79", "0.72"),
        ("Claude Opus 5.5", "0.28", "0.30", "0.25"),
        ("Llama 4 Maverick", "0.54", "0.51", "0.56"),
    ):
        yield reached(place, f"L, {model}", whole, (high, low), lambda one, other: (one + other) / 2)


def allowed(low: float, high: float, margin: float) -> tuple[str, ...]:
    """Verdicts that a 95 % interval of an improvement leaves open: the 90 % one of the equivalence test is not printed."""
    if low > 0:
        return ("gain",)
    if high < 0:
        return ("loss",)
    return ("equivalent",) if -margin < low and high < margin else ("equivalent", "inconclusive")


def _verdicts() -> Iterator[Line]:
    """The rule on the printed table: MAE and QWK with their ends, the verdicts, and the largest gain left."""
    place = "RQ2, accuracy verdicts"
    rows = (
        ("Gemini 3.5 Flash Lite", (-0.087, 0.063), (-0.010, 0.017), "equivalent", "equivalent", "0.017"),
        ("GPT-4.1-mini", (-0.030, 0.101), (-0.021, 0.027), "equivalent", "inconclusive", "0.027"),
        ("GPT-5-mini", (-0.015, 0.147), (-0.027, 0.018), "inconclusive", "inconclusive", "0.018"),
        ("Qwen3-235B", (-0.019, 0.150), (-0.047, 0.023), "inconclusive", "inconclusive", "0.023"),
        ("Claude Opus 5.5", (-0.063, 0.008), (0.013, 0.043), "equivalent", "gain", ""),
        ("Llama 4 Maverick", (-0.187, 0.004), (0.010, 0.085), "inconclusive", "gain", ""),
        ("GPT-5-mini, reasoning minimal", (-0.142, 0.076), (0.001, 0.074), "inconclusive", "gain", ""),
        ("GPT-5-mini, reasoning high", (0.03, 0.19), (-0.045, 0.016), "loss", "inconclusive", "0.016"),
        ("Gemini 3.5 Flash Lite, thinking high", (-0.087, 0.072), (-0.006, 0.031), "equivalent", "inconclusive", "0.031"),
    )  # fmt: skip
    for model, mae, qwk, mae_said, qwk_said, most in rows:
        for metric, (low, high), margin, said in (
            ("MAE", (-mae[1], -mae[0]), _MAE_MARGIN, mae_said),
            ("QWK", qwk, _QWK_MARGIN, qwk_said),
        ):
            open_ = allowed(low, high, margin)
            if len(open_) > 1 and said in open_:
                why = f"{' or '.join(open_)}: the 90 % interval decides, and is not printed"
                yield not_computed(place, f"{metric}, {model}", said, "not determined", why)
            else:
                yield statement(place, f"{metric}, {model}", said, " or ".join(open_), holds=said in open_)
        if most:
            yield held_exactly(place, f"no QWK gain larger than, {model}", most, qwk[1])


def _calibration() -> Iterator[Line]:
    """Calibration without the label: what its definition fixes, and the raw gain of the label as the difference of two contrasts."""
    place, rng = "RQ2, calibration without the label", default_rng(_SEED)
    apart = []
    for _ in range(N_TABLES):
        reference, mark = rng.integers(0, 11, (2, 40)).astype(np.float64)
        intercept, slope = calibration.line(mark_sums(reference, mark, np.zeros(40, dtype=np.int64), 1)[0])
        fitted = intercept + slope * mark
        apart += [fitted.mean() - reference.mean(), fitted.std() - reference.std()]
    yield identity(place, "it gives the teacher's mean and SD", "s_t/s_m", float(np.abs(apart).max()), N_TABLES)
    rows = (
        ("Gemini 3.5 Flash Lite", "0.008", "0.005", "0.006", "0.003"),
        ("GPT-4.1-mini", "0.097", "0.093", "0.002", "0.004"),
        ("GPT-5-mini", "0.052", "0.053", "0.002", "-0.001"),
        ("Qwen3-235B", "0.098", "0.108", "-0.011", "-0.010"),
        ("Claude Opus 5.5", "0.132", "0.103", "0.010", "0.029"),
        ("Llama 4 Maverick", "0.049", "0.003", "0.015", "0.046"),
        ("GPT-5-mini, reasoning minimal", "0.047", "0.008", "0.018", "0.039"),
    )
    for model, alone, over_label, _, raw in rows:
        yield reached(place, f"raw label gain, {model}", raw, (alone, over_label), lambda one, other: one - other)
    columns = ("calibration alone", "calibration against the label", "label after calibration", "raw label gain")
    for at, (column, published) in enumerate(zip(columns, ("0.076", "0.038", "0.014", "0.038"), strict=True), 1):
        yield reached(
            place,
            f"mean of the last three, {column}",
            published,
            [row[at] for row in rows[-3:]],
            lambda *one: sum(one) / 3,
        )


def _exemplars() -> Iterator[Line]:
    place = "RQ3, marks of the examples (600 answers)"
    control, ungraded, correct, shuffled, up, down = "0.19", "0.61", "-0.15", "0.06", "0.33", "-0.80"

    def minus(one: float, other: float) -> float:
        return one - other

    yield reached(place, "correct marks minus control", "-0.34", (correct, control), minus)
    yield reached(place, "ungraded minus control", "0.42", (ungraded, control), minus)
    yield reached(place, "R, shuffled minus correct", "0.22", (shuffled, correct), minus)
    yield reached(place, "S, shifted up minus shifted down", "1.13", (up, down), minus)
    yield reached(place, "U, shifted up minus correct", "0.48", (up, correct), minus)
    yield reached(place, "D, shifted down minus correct", "-0.65", (down, correct), minus)
    yield reached(
        place,
        "share kept when marks are shuffled",
        "0.37",
        (shuffled, control, correct),
        lambda s, c, g: (s - c) / (g - c),
    )
    yield reached(place, "pass-through, S over marks shown", "0.39", ("1.13", "2.92"), lambda s, shown: s / shown)
    yield reached(place, "QWK, shifted down minus correct", "-0.043", ("0.814", "0.857"), minus)
    yield reached(place, "QWK, ungraded minus control", "-0.018", ("0.835", "0.854"), minus)


def _loop() -> Iterator[Line]:
    place, kept = "RQ4, the loop's arithmetic", of.kept_share(2.5 * 4)
    fitted, latent = _FITS[:, 2], _FITS[:, 3]
    yield held_exactly(place, "r, kept from write to write", "0.707", float(kept))
    yield held_exactly(place, "w, what one grade moves", "0.23", float(of.weight_of_mark(kept)))
    yield held_exactly(place, "runaway effect", "1.29", float(of.runaway_effect(kept)))
    for name, published, values in (
        ("largest eigenvalue", ("0.730", "0.732", "0.742", "0.757"), of.eigenvalue(latent, kept)),
        ("runaway, times the latent effect", ("12.6", "11.8", "8.4", "5.9"), of.runaway_multiple(latent, kept)),
    ):
        for model, line in zip(_MODELS, numbers(place, name, published, values), strict=True):
            yield Line(line.place, f"{name}, {model}", line.published, line.recomputed, line.verdict, line.note)
    for model, text, effect in zip(_MODELS, ("13.8", "13.0", "9.3", "6.5"), fitted, strict=True):
        yield reached(place, f"runaway, times the fitted effect, {model}", text, (f"{effect:.3f}",),
            lambda one: float(of.runaway_multiple(one, kept)))  # fmt: skip
    yield from _course(latent, fitted)


def _course(latent: Array, fitted: Array) -> Iterator[Line]:
    """What the simulation found: not fixed by the text, and what our course gives."""
    place = "RQ4, the simulated course"
    grader = of.Grader(_FITS[:, 0], _FITS[:, 1], latent, _FITS[:, 4], _FITS[:, 5], np.ones(4))
    found = simulate_course(grader, Cohort(5.05, 1.27, n_learners=2000), Course())
    for at, (model, multiplier, total) in enumerate(
        zip(_MODELS, ("1.066", "1.075", "1.111", "1.167"), ("1.053", "1.032", "1.054", "1.005"), strict=True)
    ):
        why = (
            f"prior, evidence rule and grader noise are not printed; with our definitions and a noise of one mark, "
            f"{found.multiplier[at]:.3f}; the linear form of ten writes gives {of.linear_multiplier(latent, of.kept_share(10.0), 10)[at]:.3f}"
        )
        yield not_computed(place, f"loop multiplier, {model}", multiplier, "not determined", why)
        slope, interaction = _FITS[at, 1], _FITS[at, 5]
        share = float(multiplier) * (slope + interaction) / slope
        why = (
            f"multiplier times (slope + interaction)/slope, as it would be over a label frozen at the middle, gives {share:.3f}: our "
            f"reading of the definition, which the text does not give; our course has {found.total[at]:.3f}"
        )
        yield not_computed(place, f"total effect, {model}", total, "not determined", why)
    why = f"the curve is not printed; its four points are {', '.join(f'{one:.3f}' for one in latent / fitted)} times the fitted effects"
    yield not_computed(place, "attenuation by clipping", "latent from fitted", "not determined", why)


def _groups() -> Iterator[Line]:
    place = "RQ6, matching on a noisy score"
    yield held_exactly(
        place, "reliability of two reads that correlate at .75", "0.86", float(reliability_of_mean(0.75, 2))
    )
    yield not_computed(place, "gaps at equal true quality", "-0.12 to -0.27", "not determined",
        "the measurement-error model and the essays are not in the text; group_gap_true states its own")  # fmt: skip
