#!/usr/bin/env bash
# Ten studies: the program, the page of `attica explore`, the package for Python and the library in C++ give the same numbers, to the
# last digit.   same_numbers.sh PROGRAM PROJECT_FOLDER LIBRARY_EXAMPLE
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
library=$3
# The package, if it was built beside the program, and the Python it was built for.
package=$(dirname "$program")/python
for python in python3 /usr/bin/python3; do
  PYTHONPATH=$package "$python" -c 'import attica.runs' 2>/dev/null && break
  python=
done
plain=$(command -v "${python:-python3}") || {
  echo "SKIPPED: no python3 here" >&2
  exit 77
}
[ -n "$python" ] || echo "without the package for Python, which is not built beside the program" >&2

PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 "$plain" - "$program" "$library" "$python" <<'PYTHON' || failures=$((failures + 1))
import json, signal, subprocess, sys, urllib.request

program, library, with_package = sys.argv[1:]
# A parameter away from its default: what is not handed on shows.
STUDIES = {
    "gauss-double-descent": {"model.rho": "0.55"},
    "gauss-flow": {"model.sites": "21"},
    "potts-flow": {},
    "potts-square": {"model.sites": "8"},
    "topics-value-curves": {},
    "joma-erf": {},
    "bigrams-flow": {},
    "icl-double-descent": {},
    "token-curve": {},
    "masked-spectrum": {},
}
failures = 0


def by_program(study, values):
    words = [w for k, v in values.items() for w in ("--set", f"{k}={v}")]
    answer = subprocess.run([program, "theory", study, "--json", *words], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return curves(json.loads(answer.stdout))


def by_page(study, values):
    explorer = subprocess.Popen([program, "explore", study, "--quiet"], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    address = explorer.stdout.readline().strip()
    try:
        return curves(json.load(urllib.request.urlopen(address + "theory", json.dumps(values).encode())))
    finally:
        explorer.send_signal(signal.SIGINT)
        explorer.wait()


def by_package(study, values):
    import attica

    theory = attica.theory(study, **{k: int(v) if v.isdigit() else float(v) for k, v in values.items()})
    return {(c.name, words(c.point), c.x_name, x): y for c in theory.curves for x, y in zip(c.x.tolist(), c.y.tolist())}


def by_library(study, values):
    answer = subprocess.run([library, study, *[f"{k}={v}" for k, v in values.items()]], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    rows = [line.split("\t") for line in answer.stdout.splitlines()]
    return {(name, words(dict(c.split("=") for c in point.split(", ") if c)), x_name, float(x)): float(y) for name, point, x_name, x, y in rows}


def words(point):
    """Coordinates by name; numbers as numbers, however they are written."""
    def value(v):
        try:
            return float(v)
        except ValueError:
            return v
    return tuple(sorted((k, value(v)) for k, v in point.items()))


def curves(record):
    return {(s["name"], words(s["point"]), s["x_name"], x): y for s in record["series"] for x, y in zip(s["x"], s["y"])}


others = {"the page": by_page, "the library": by_library, **({"the package": by_package} if with_package else {})}
for study, values in STUDIES.items():
    expected = by_program(study, values)
    if len(expected) < 5 or (values and expected == by_program(study, {})):
        failures += 1
        print(f"FAILED: {study}: {len(expected)} numbers, of which {values} changes none", file=sys.stderr)
    for name, ask in others.items():
        found = ask(study, values)
        if found != expected:
            failures += 1
            places = [k for k in expected.keys() | found.keys() if expected.get(k) != found.get(k)]
            print(f"FAILED: {study}: {name} differs at {len(places)} of {len(expected)}: {places[0]}: {found.get(places[0])}, the program {expected.get(places[0])}", file=sys.stderr)
sys.exit(failures > 0)
PYTHON
finish
