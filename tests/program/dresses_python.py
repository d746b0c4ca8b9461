"""The verdict on one theory and one simulation, in every dress that Python has for a table."""
import sys

import numpy as np
import pandas

import attica

theory, simulation = (pandas.read_csv(f"{name}-plain.csv") for name in ("theory", "simulation"))
dresses = {
    "data frames": lambda frame: frame,
    "float32": lambda frame: frame.astype({"x": np.float32, "value": np.float32}),
    "an index": lambda frame: frame.set_index("x"),
    "another order": lambda frame: frame.sample(frac=1, random_state=1),
    "categories": lambda frame: frame.astype({"x": "category"}),
    "lists of dicts": lambda frame: frame.to_dict("records"),
    "dicts of lists": lambda frame: frame.to_dict("list"),
    "dicts of arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "structured arrays": lambda frame: frame.to_records(index=False),
    "masked arrays": lambda frame: {name: np.ma.masked_array(frame[name].to_numpy()) for name in frame},
}
seen = {}
for name, dress in dresses.items():
    judgement = attica.judge(theory=dress(theory), simulate=dress(simulation), margin=0.05, out=None)
    seen[name] = (str(judgement.verdict), sorted(str(point) for point in judgement.points))
first = seen["data frames"]
for name, found in seen.items():
    if found != first:
        sys.exit(f"{name}: {found}\nexpected {first}")
print(first[0])
