#!/usr/bin/env bash
# Each swept value is listed once: parameters have colours, layers dashes and fillings.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
command -v gnuplot >/dev/null || {
  echo "SKIPPED: no gnuplot here" >&2
  exit 77
}
"$program" run potts-learning --set 'sweep.beta=[0.5,1.0]' --set 'sweep.samples=[1000.0,3000.0]' --replicates 8 --quiet \
  --set 'plot.style="neurips"' --set 'plot.formats=["svg"]' --name legend >out 2>err  # whatever its verdict
script=$(echo runs/legend-*/plots/potts-learning.gp)
for value in 0.5 1; do
  count=$(grep -c "^set label .*β} = $value{" "$script")
  [ "$count" -eq 1 ] || fail "β = $value stands $count times in the legend"
done
# A temperature has one colour in both models, and each model a dash of its own.
python 0 - "$script" <<'PYTHON'
import re, sys
curves = re.findall(r"lc rgb '(#\w+)' dt (\S+) title \"theory: excess_loss, (.*?)\"", open(sys.argv[1]).read())
colours, dashes = {}, {}
for colour, dash, point in curves:
    beta = re.search(r"beta ?= ?([\d.]+)", point)[1]
    model = re.search(r"model ?= ?(\w+)", point)[1]
    colours.setdefault(beta, set()).add(colour)
    dashes.setdefault(model, set()).add(dash)
assert len(curves) == 4, curves
assert sorted(map(len, colours.values())) == [1, 1] and len(set.union(*colours.values())) == 2, colours
assert sorted(map(len, dashes.values())) == [1, 1] and len(set.union(*dashes.values())) == 2, dashes
PYTHON
finish
