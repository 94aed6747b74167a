"""Ratings that several tests of ensembles share: (rated units, raters), -1 where missing; and tallies of them."""

import numpy as np

from evenhand.stats import ensembles as of


def codes(*rows: str) -> np.ndarray:
    """A digit a rating, a dot where missing."""
    return np.array([[-1 if cell == "." else int(cell) for cell in row] for row in rows])


# data/gwet_raw4raters_missing.csv, gwet_raw5obser_missing.csv, fleiss1971_diagnoses.csv, gwet_distrib6raters.csv,
# krippendorff2011_A.csv and _B.csv of the oracles; the first has labels 1 ... 5, here 0 ... 4, as has the third
RAW4 = codes("00.0", "1121", "2222", "2222", "1111", "0123", "3333", "0010", "1111", ".444", "..00", "..2.")
RAW5 = codes(
    "112.2", "1101.", "2333.", ".00.0", "000.0", "000.0", "102.1", "1.20.", "222.2", "2111.", ".100.", "0000.",
    "1222.", "33223", "111.1",
)  # fmt: skip
DIAGNOSES = codes(
    "444444", "222555", "233335", "555555", "222444", "113333", "333355", "113334", "114444", "555555", "144444",
    "124444", "222333", "144444", "224445", "333335", "111455", "111112", "224444", "133555", "555555", "244444",
    "224555", "114444", "144445", "222224", "111155", "224444", "133333", "555555",
) - 1  # fmt: skip
DISTRIBUTION = np.array(
    [
        [int(cell) for cell in row]
        for row in (
            "00060", "03003", "01401", "00006", "03030", "20400", "00402", "20310", "20040", "00006", "10050", "11040",
            "03300", "10050", "02031",
        )
    ]
)  # fmt: skip
KRIPPENDORFF_A = codes("01", "11", "01", "00", "00", "01", "00", "00", "10", "00")
KRIPPENDORFF_B = codes("12", "11", "22", "22", "42", "33", "33", "33", "55", "44", "44", "14") - 1
COEFFICIENTS = {
    "none": of.percent_agreement,
    "fleiss": of.fleiss_kappa,
    "gwet": of.gwet_ac,
    "uniform": of.brennan_prediger,
    "conger": of.conger_kappa,
}


def each(n: int) -> tuple[np.ndarray, int]:
    """Every rated unit its own unit of resampling."""
    return np.arange(n), n


def units_of(labels: np.ndarray, q: int, chance: str) -> np.ndarray:
    if chance == "conger":
        return of.conger_sums(labels, q, *each(len(labels)))
    return of.profile_sums(of.profiles(labels, q), *each(len(labels)))


def coincidences(labels: np.ndarray, q: int) -> np.ndarray:
    return of.coincidence_sums(of.profiles(labels, q), *each(len(labels)))


def value(labels: np.ndarray, chance: str, weights: np.ndarray) -> float:
    return float(COEFFICIENTS[chance](units_of(labels, len(weights), chance).sum(axis=0), weights))


def alpha(labels: np.ndarray, metric: str, levels) -> float:
    return float(of.krippendorff_alpha(coincidences(labels, len(levels)).sum(axis=0), metric, levels))
