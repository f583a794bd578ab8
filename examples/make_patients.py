"""Makes `python/arbornet/data/patients.csv`: simulated patients, no real person's data.

The dependencies are written out below, so whoever learns a network from the table can compare it with the truth:

    age, bmi -> systolic; bmi -> glucose -> diabetes; sex, age -> smoker; smoker, age -> stage;
    stage -> crp; stage -> treatment; stage, treatment -> days; diabetes, days, treatment -> readmitted
"""

import csv
from pathlib import Path

import numpy as np

ROWS = 600
LEVELS_STAGE = ["I", "II", "III", "IV"]


def choose(rng: np.random.Generator, weights: dict[str, float]) -> str:
    """One of the keys, with probability proportional to its weight."""
    names = list(weights)
    shares = np.array(list(weights.values()), dtype=float)
    return names[int(rng.choice(len(names), p=shares / shares.sum()))]


def patient(rng: np.random.Generator) -> dict[str, object]:
    """One simulated row."""
    age = int(np.clip(rng.normal(58, 15), 20, 92))
    sex = choose(rng, {"female": 0.52, "male": 0.48})
    smoker = choose(rng, {"never": 5, "former": 3 if age > 45 else 1, "current": 2 if sex == "female" else 3})
    bmi = round(float(np.clip(rng.normal(26.5, 4.2), 16, 48)), 1)
    systolic = round(rng.normal(118 + (14 if age >= 60 else 0) + (12 if bmi >= 30 else 0), 9))
    glucose = round(float(rng.normal(5.2 if bmi < 29 else 6.9, 0.8)), 1)
    diabetes = choose(rng, {"yes": 0.85, "no": 0.15} if glucose > 7 else {"yes": 0.05, "no": 0.95})
    risk = (age >= 55) + {"never": 0, "former": 1, "current": 2}[smoker]
    stage = choose(
        rng, dict(zip(LEVELS_STAGE, [[8, 3, 1, 0.5], [5, 4, 2, 1], [2, 4, 4, 2], [1, 2, 4, 5]][risk], strict=True))
    )
    crp = round(float(np.exp(rng.normal([0.6, 1.2, 2.2, 3.0][LEVELS_STAGE.index(stage)], 0.5))), 1)
    treatment = choose(
        rng,
        {"surgery": 7, "drug": 2, "both": 1} if stage in ("I", "II") else {"surgery": 1, "drug": 4, "both": 5},
    )
    days = int(max(1, round(rng.normal(3 + (6 if treatment != "drug" else 1) + (5 if stage == "IV" else 0), 1.6))))
    odds = 0.08 + 0.3 * (diabetes == "yes") + 0.3 * (days > 10) + 0.1 * (treatment == "drug")
    readmitted = choose(rng, {"yes": odds, "no": 1 - odds})
    row: dict[str, object] = {
        "age": age,
        "sex": sex,
        "smoker": smoker,
        "bmi": bmi,
        "systolic": systolic,
        "glucose": glucose,
        "diabetes": diabetes,
        "stage": stage,
        "crp": crp,
        "treatment": treatment,
        "days": days,
        "readmitted": readmitted,
    }
    for name in ("glucose", "crp"):
        if rng.random() < 0.01:
            row[name] = ""
    return row


def main() -> None:
    """Writes the table."""
    rng = np.random.default_rng(7)
    rows = [patient(rng) for _ in range(ROWS)]
    path = Path(__file__).parents[1] / "python" / "arbornet" / "data" / "patients.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
