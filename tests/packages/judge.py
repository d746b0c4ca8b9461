"""tests/packages/judge.py: the judge alone (attica_judge) says what the package attica says, on random tables; the same bytes of
every word, and of numbers to ten digits: t tails by Boost.Math in place of GSL differ in the last ones. Both must be in PYTHONPATH."""

import json
import random
import sys

import attica
import attica_judge


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.10g}") if abs(value) > 1e-10 else 0.0
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, list) else value


def table(generator):
    """A theory and replicates that agree, disagree, or are too few; some constant, some failed, some far out."""
    points = generator.choice([1, 2, 5, 20])
    count = generator.choice([2, 3, 8, 30, 200])
    theory = [generator.uniform(-3, 3) if generator.random() > 0.05 else 0.0 for _ in range(points)]
    spread = 10 ** generator.uniform(-4, 0)
    bias = generator.choice([0.0, 0.0, 0.02, 0.3])
    rows = []
    for value in theory:
        row = [value * (1 + bias) + spread * generator.gauss(0, 1) ** generator.choice([1, 1, 1, 3]) for _ in range(count)]
        if generator.random() < 0.05:
            row = [row[0]] * count
        if generator.random() < 0.03:
            row[0] = float("nan")
        rows.append(row)
    options = {"margin": generator.choice([0.0, 0.01, 0.05, 0.3]), "absolute": generator.choice([0.0, 0.0, 0.05])}
    options["tails"] = generator.choice(["guarded", "guarded", "normal"])
    options["independent"] = generator.random() < 0.3
    if generator.random() < 0.2:
        options["finite_size"] = [generator.uniform(0, 0.01) for _ in theory]
    return theory, rows, options


generator = random.Random(7)
verdicts = {}
for number in range(int(sys.argv[1]) if sys.argv[1:] else 200):
    theory, rows, options = table(generator)
    told = attica.agreement(theory, rows, **options).record
    alone = attica_judge.judge(theory, rows, **options)
    text = alone.pop("text")
    if told["verdict"] == "NONE" and alone["verdict"] == "INCONCLUSIVE":  # no margin: of the package for Python
        told = {**told, "verdict": alone["verdict"], "summary": alone["summary"]}
    here, there = (json.dumps(rounded(record), sort_keys=True, default=str) for record in (told, alone))
    if here != there:
        at = next(k for k in range(min(len(here), len(there))) if here[k] != there[k])
        sys.exit(f"table {number}: {here[max(0, at - 120):at + 60]}\nalone:  {there[max(0, at - 120):at + 60]}")
    assert told["summary"] in text, text
    verdicts[told["verdict"]] = verdicts.get(told["verdict"], 0) + 1
assert min(verdicts.get(word, 0) for word in ("AGREE", "DISAGREE", "INCONCLUSIVE")) >= 10, verdicts
for bad in ({"margin": -1.0}, {"tails": "heavy"}, {"x": [1.0, 2.0]}):
    try:
        attica_judge.judge([1.0], [[1.0, 2.0]], **bad)
    except attica_judge.Error:
        continue
    sys.exit(f"{bad} is accepted")
assert attica_judge.plan(margin=0.05, sd=0.3)["replicates"] > 8
assert attica_judge.plan(margin=0.05, sd=0.3, difference=0.06)["replicates"] is None
print(f"{sum(verdicts.values())} tables: {verdicts}")
