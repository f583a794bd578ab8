"""Makes `python/arbornet/data/examples/survey.csv`: a simulated survey about the way to work, no real person's answers.

Most answers are ordered levels. The dependencies are written out below, so whoever learns a network from the table can
compare it with the truth:

    age -> education -> income; area -> distance; area, income -> cars; distance, cars -> transport;
    distance, transport -> minutes -> stress; stress, income -> satisfaction; area -> housing
"""

import numpy as np
from simulated import Row, choose, write

AGE = ["18-29", "30-44", "45-59", "60 or older"]
EDUCATION = ["school", "vocational", "bachelor", "master or more"]
INCOME = ["low", "middle", "high"]
CARS = ["none", "one", "two or more"]
STRESS = ["never", "sometimes", "often", "always"]
SATISFACTION = ["very unsatisfied", "unsatisfied", "neutral", "satisfied", "very satisfied"]


def graded(rng: np.random.Generator, levels: list[str], centre: float, spread: float = 0.8) -> str:
    """A level near the given place on the scale from 0 to the last level."""
    places = np.arange(len(levels))
    return choose(rng, levels, list(np.exp(-0.5 * ((places - centre) / spread) ** 2)))


def answer(rng: np.random.Generator) -> Row:
    """One simulated respondent."""
    age = choose(rng, AGE, [5, 7, 6, 2])
    education = graded(rng, EDUCATION, 1.8 if age in AGE[:2] else 0.9)
    income = graded(rng, INCOME, 0.3 + 0.5 * EDUCATION.index(education), 0.6)
    area = choose(rng, ["city", "suburb", "country"], [5, 4, 3])
    housing = choose(rng, ["flat", "house"], {"city": [9, 1], "suburb": [4, 6], "country": [1, 9]}[area])
    distance = round(float(np.exp(rng.normal({"city": 1.4, "suburb": 2.4, "country": 3.0}[area], 0.45))), 1)
    cars = graded(rng, CARS, (0.3 if area == "city" else 1.1) + 0.4 * INCOME.index(income), 0.6)
    ways = ["on foot", "bicycle", "bus or train", "car"]
    if distance < 4:
        transport = choose(rng, ways, [4, 5, 1, 1 if cars != "none" else 0])
    else:
        transport = choose(rng, ways, [0, 1, 8, 0] if cars == "none" else [0, 1, 3, 8])
    speed = {"on foot": 5, "bicycle": 15, "bus or train": 22, "car": 32}[transport]
    minutes = max(3, round(60 * distance / speed * float(rng.lognormal(0, 0.12)) + (8 if speed == 22 else 2)))
    stress = graded(rng, STRESS, 0.6 if minutes < 25 else 1.5 if minutes < 45 else 2.5, 0.7)
    satisfaction = graded(rng, SATISFACTION, 3.3 - 0.9 * STRESS.index(stress) + 0.6 * INCOME.index(income), 0.9)
    row: Row = {
        "age": age,
        "education": education,
        "income": income,
        "area": area,
        "housing": housing,
        "distance": distance,
        "cars": cars,
        "transport": transport,
        "minutes": minutes,
        "stress": stress,
        "satisfaction": satisfaction,
    }
    if rng.random() < 0.04:  # some do not tell
        row["income"] = ""
    return row


if __name__ == "__main__":
    write("survey", 900, 11, answer)
