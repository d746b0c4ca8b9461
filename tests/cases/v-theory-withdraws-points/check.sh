#!/usr/bin/env bash
# A theory that leaves out the points that show its error does not agree.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 run joma-entropy-gd --quiet --out runs --name right --set 'plot.formats=["svg"]'
cat >withdraw.py <<'END'
import glob, json, shutil, sys
for name, kept in (("none", 0.0), ("most", 0.85), ("nearly", 0.95)):
    folder = glob.glob("runs/right-*")[0]
    copy = f"runs/{name}"
    shutil.copytree(folder, copy)
    theory = json.load(open(f"{copy}/theory.json"))
    for p in theory["predictions"]:
        n = len(p["x"])
        p["compared"] = [k < kept * n for k in range(n)]
    json.dump(theory, open(f"{copy}/theory.json", "w"))
END
python 0 withdraw.py
run 3 check runs/none --accept-edits
says out "fewer points than expected: 0 of 21"
run 3 check runs/most --accept-edits
says out "fewer points than expected: 18 of 21"
run 0 check runs/nearly --accept-edits
finish
