#!/usr/bin/env bash
# The page of `attica explore` in a browser, and the file of --export.   browser.sh PROGRAM PROJECT_FOLDER
# With ATTICA_SCREENSHOTS=FOLDER it leaves pictures there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v chromium >/dev/null && /usr/bin/python3 -c 'import websocket' 2>/dev/null || {
  echo "SKIPPED: no chromium or python3-websocket here; ./dev test --all installs them" >&2
  exit 77
}
small=(--set model.sites=40 --set sim.data_sets=1 --set 'sweep.lambda=[1.0]' --set 'sweep.alpha=[0.5, 2.0]')
run 0 run gauss-double-descent "${small[@]}" --replicates 400 --name seen --quiet --set 'plot.formats=["svg"]' || finish
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$project/tests/program/browser.py" "$program" runs/seen-* || failures=$((failures + 1))
finish
