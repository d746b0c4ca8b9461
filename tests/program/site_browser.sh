#!/usr/bin/env bash
# The site in a browser, from 390 px on, light and dark, by keyboard.   site_browser.sh PROGRAM PROJECT_FOLDER
# With ATTICA_SCREENSHOTS=FOLDER it leaves pictures there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v chromium >/dev/null && command -v cmark-gfm >/dev/null && /usr/bin/python3 -c 'import websocket' 2>/dev/null || {
  echo "SKIPPED: no chromium, cmark-gfm or python3-websocket here; ./dev test --all installs them" >&2
  exit 77
}
"$project/docs/build" "$program" "$work/site" >out 2>err || fail "docs/build: $(cat err)"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$project/tests/program/site_browser.py" "$work/site" || failures=$((failures + 1))
finish
