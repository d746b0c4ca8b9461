#!/usr/bin/env bash
# Theories in text that are hard: stiff, singular, chaotic, discontinuous, with several solutions, with shadowed names,
# nested deeply. The values in cards.json are closed forms and numbers of mpmath and SciPy. A value is right within its
# stated error and rounding, or the point has none ("within": either is right; null: it must have none; "refused": the
# configuration is refused; "any": it ends).
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 - "$program" <<'END' >wrong || fail "$(cat wrong)"
import json, math, subprocess, sys

wrong = 0
for card in json.load(open("cards.json")):
    open("card.toml", "w").write('study = "own"\nx = "x"\n' + card["card"])
    done = subprocess.run([sys.argv[1], "theory", "card.toml", "--json"], capture_output=True, text=True, timeout=200)
    problems = [] if done.returncode in (0, 2, 4) else [f"exit code {done.returncode}: {done.stderr[-300:]}"]
    found = {}
    if done.returncode == 0:
        for s in json.loads(done.stdout)["series"]:
            errors = s.get("numerical_error") or [0] * len(s["x"])
            found |= {x: (y, e) for x, y, e in zip(s["x"], s["y"], errors)}
    for x, y in zip(card["x"], card["y"]):
        value, error = found.get(x, (None, 0))
        if value is not None and not math.isfinite(value):
            problems.append(f"{value} at x = {x}")
        elif y == "refused":
            problems += [] if done.returncode == 2 else [f"exit code {done.returncode}, expected 2"]
        elif y is None or y == "any":
            problems += [] if value is None or y == "any" else [f"{value} +- {error} at x = {x}, which has no value"]
        elif value is None:
            problems += [] if isinstance(y, dict) else [f"no value at x = {x}, expected {y}: {done.stderr[-300:]}"]
        else:
            exact = y["within"] if isinstance(y, dict) else y
            if abs(value - exact) > error + 4e-12 * abs(exact) + 1e-300:
                problems.append(f"{value} +- {error} at x = {x}, expected {exact}")
    for problem in problems:
        print(f"{card['name']}: {problem}")
    wrong += bool(problems)
sys.exit(wrong > 0)
END
finish
