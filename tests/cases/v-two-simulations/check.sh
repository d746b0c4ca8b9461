#!/usr/bin/env bash
# Two simulations are compared within a margin by Welch's t: the error of both means counts.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >tables.py <<'END'
import random
def table(name, n, mean, sd, seed):
    r = random.Random(seed)
    with open(name, "w") as file:
        file.write("x,replicate,value\n")
        for x in (1, 2, 3, 4):
            for k in range(n):
                file.write(f"{x},{k},{mean + sd * r.gauss(0, 1)!r}\n")
table("one.csv", 60, 10, 0.2, 1)
table("same.csv", 40, 10, 0.3, 2)
table("other.csv", 40, 10.6, 0.3, 3)
table("blunt.csv", 10, 10, 3, 4)
END
python 0 tables.py
run 0 judge one.csv same.csv --margin 3% --out runs --name same
run 0 judge same.csv one.csv --margin 3% --out runs --name turned
run 1 judge one.csv other.csv --margin 3% --out runs --name other
# The first side's scatter decides nothing; taken for exact it would.
run 3 judge blunt.csv one.csv --margin 3% --tails normal --out runs --name blunt
cat >welch.py <<'END'
import csv, glob, json, math, statistics
def values(name):
    rows = [r for r in csv.DictReader(open(name)) if r["x"] == "2"]
    return [float(r["value"]) for r in rows]
a, b = values("one.csv"), values("same.csv")
p = [q for q in json.load(open(glob.glob("runs/same-*/check.json")[0]))["points"] if q["x"] == 2][0]
va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
scaled = 1.03 ** 2 * va  # a relative margin moves with the first mean
assert math.isclose(p["theory"], statistics.fmean(a), rel_tol=1e-12), p
assert math.isclose(p["standard_error"], math.sqrt(scaled + vb), rel_tol=1e-9), p
df = (scaled + vb) ** 2 / (scaled ** 2 / 59 + vb ** 2 / 39)
assert math.isclose(p["degrees_of_freedom"], df, rel_tol=1e-9) and p["theory_n"] == 60 and p["n"] == 40, p
END
python 0 welch.py
# Judged again, and drawn.
run 0 check runs/same-*
run 2 judge one.csv same.csv --margin 3% --cluster block --out runs
finish
