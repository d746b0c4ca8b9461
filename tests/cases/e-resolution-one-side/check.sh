#!/usr/bin/env bash
# The resolution holds for both signs of an error.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 judge theory-1.0.csv measured.csv --margin 4% --out runs --name right
says out "Resolution: an error of 4.9 % in y would have been detected."
run 0 check runs/right-*
says out "an error of 4.9 % in y would have been detected (2.4 % lower or 4.9 % higher; DISAGREE from"
cat >resolution.py <<'END'
import json, glob
c = json.load(open(glob.glob("runs/right-*/check.json")[0]))
r = c["resolution"][0]
assert 0.047 < r["not_agree"] < 0.050 and r["not_agree"] == c["coarsest_resolution"] == r["higher"]["not_agree"], r
assert 0.023 < r["lower"]["not_agree"] < 0.026 and r["disagree"] > r["not_agree"], r
assert r["coarsest_third"] == {"not_agree": r["not_agree"], "disagree": r["disagree"]}, r
# The same numbers judge a theory that is off by 1.25 times the resolution, either way.
for sign, word in ((1, "high"), (-1, "low")):
    for key in ("not_agree", "disagree"):
        with open(f"{word}-{key}.csv", "w") as file:
            file.write(f"x,value\n1,{1 + sign * 1.25 * r[key]!r}\n")
END
python 0 resolution.py
for sign in high low; do
  "$program" judge "$sign-not_agree.csv" measured.csv --margin 4% --out runs --name "$sign" >out 2>err </dev/null && fail "$sign: AGREE above the resolution"
  run 1 judge "$sign-disagree.csv" measured.csv --margin 4% --out runs --name "$sign-d"
done
run 0 judge theory-1.04.csv measured.csv --margin 4% --out runs --name higher
run 3 judge theory-0.97.csv measured.csv --margin 4% --out runs --name lower
finish
