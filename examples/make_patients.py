"""Makes `python/arbornet/data/examples/patients.csv`: simulated patients, no real person's data.

The dependencies are written out below, so whoever learns a network from the table can compare it with the truth:

    age, bmi -> systolic; bmi -> glucose -> diabetes; sex, age -> smoker; smoker, age -> stage;
    stage -> crp; stage -> treatment; stage, treatment -> days; diabetes, days, treatment -> readmitted
"""

import numpy as np
from simulated import Row, choose, write

STAGES = ["I", "II", "III", "IV"]


def patient(rng: np.random.Generator) -> Row:
    """One simulated row."""
    age = int(np.clip(rng.normal(58, 15), 20, 92))
    sex = choose(rng, ["female", "male"], [0.52, 0.48])
    smoker = choose(rng, ["never", "former", "current"], [5, 3 if age > 45 else 1, 2 if sex == "female" else 3])
    bmi = round(float(np.clip(rng.normal(26.5, 4.2), 16, 48)), 1)
    systolic = round(rng.normal(118 + (14 if age >= 60 else 0) + (12 if bmi >= 30 else 0), 9))
    glucose = round(float(rng.normal(5.2 if bmi < 29 else 6.9, 0.8)), 1)
    diabetes = choose(rng, ["yes", "no"], [0.85, 0.15] if glucose > 7 else [0.05, 0.95])
    risk = (age >= 55) + {"never": 0, "former": 1, "current": 2}[smoker]
    stage = choose(rng, STAGES, [[8, 3, 1, 0.5], [5, 4, 2, 1], [2, 4, 4, 2], [1, 2, 4, 5]][risk])
    crp = round(float(np.exp(rng.normal([0.6, 1.2, 2.2, 3.0][STAGES.index(stage)], 0.5))), 1)
    treatment = choose(rng, ["surgery", "drug", "both"], [7, 2, 1] if stage in ("I", "II") else [1, 4, 5])
    days = int(max(1, round(rng.normal(3 + (6 if treatment != "drug" else 1) + (5 if stage == "IV" else 0), 1.6))))
    odds = 0.08 + 0.3 * (diabetes == "yes") + 0.3 * (days > 10) + 0.1 * (treatment == "drug")
    readmitted = choose(rng, ["yes", "no"], [odds, 1 - odds])
    row: Row = {
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


if __name__ == "__main__":
    write("patients", 600, 7, patient)
