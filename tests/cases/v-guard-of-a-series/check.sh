#!/usr/bin/env bash
# Points of a series share what they tell of tails: normal replicates are decided, also 20 of them, and the guard's price is named.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >tables.py <<'END'
import random
def table(name, n, draw, seed, points=8):
    r = random.Random(seed)
    with open(name, "w") as file:
        file.write("x,replicate,value\n")
        for x in range(1, points + 1):
            for k in range(n):
                file.write(f"{x},{k},{10 + draw(r)!r}\n")
table("normal.csv", 60, lambda r: r.gauss(0, 1), 1)
table("few.csv", 24, lambda r: r.gauss(0, 1), 2)
table("skewed.csv", 60, lambda r: r.lognormvariate(0, 0.7) - 1.2776213, 3)
with open("theory.csv", "w") as file:
    file.write("x,value\n" + "".join(f"{x},10\n" for x in range(1, 9)))
END
python 0 tables.py
# A standard deviation of 5/3 of the margin.
run 0 judge theory.csv normal.csv --absolute 0.6 --out runs --name normal
run 0 judge theory.csv few.csv --absolute 1.2 --out runs --name few
# Skewed replicates: the guard stays, the verdict says so, and what taking it off assumes.
run 3 judge theory.csv skewed.csv --absolute 0.4 --out runs --name skewed
says out "without the guard against heavy tails it would agree"
says out "undecided points would agree without the guard against heavy tails. --tails normal"
says out "no long tail on either side"
run 0 judge theory.csv skewed.csv --absolute 0.4 --tails normal --independent --out runs --name vouched
if grep -q "heavy tails" out; then fail "no guard was on"; fi
finish
