#!/usr/bin/env bash
# An error of 1.25 times the stated resolution is DISAGREE, whatever its sign, in every compared series.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >either.py <<'END'
import glob, json, os, subprocess
program, missed, tried = os.environ["ATTICA_PROGRAM"], [], 0
for study in ("joma-salience", "joma-entropy-gd", "gauss-teacher"):
    done = subprocess.run([program, "run", study, "--seed", "5150", "--out", "runs", "--name", study, "--json", "--quiet"], capture_output=True, text=True)
    found = json.loads(done.stdout)
    folder = glob.glob(f"runs/{study}-*")[0]
    for r in found["resolution"]:
        assert r["not_agree"] == max(r["lower"]["not_agree"], r["higher"]["not_agree"]), r
        if not r["disagree"] or 1.25 * r["disagree"] >= 1:
            continue
        for sign in (1, -1):
            tried += 1
            error = f"{r['series']}*={1 + sign * 1.25 * r['disagree']!r}"
            v = json.loads(subprocess.run([program, "check", folder, "--perturb", error, "--json"], capture_output=True, text=True).stdout)["verdict"]
            if v != "DISAGREE":
                missed.append((study, error, v))
assert tried > 8 and not missed, (tried, missed)
END
python 0 either.py
finish
