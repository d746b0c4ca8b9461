#!/usr/bin/env bash
# The report page in a real browser: no console message, no network request, readable on a phone and in the dark.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

browser=$(command -v chromium || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "SKIPPED: no chromium here; ./dev test --all installs it" >&2
  exit 77
fi
run 3 run gauss-double-descent --preset demo --set sim.data_sets=1 --replicates 30 --quiet --name page
page=$(realpath runs/page-*)/report.html

# visit NAME OPTIONS...: takes a screenshot of the page as NAME.png; leaves the browser's log in NAME.log.
visit() {
  local name=$1
  shift
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --disable-quic --user-data-dir="$work/profile-$name" --hide-scrollbars \
    --enable-logging=stderr --log-net-log="$work/$name.net" --screenshot="$work/$name.png" "$@" "file://$page" \
    >"$name.log" 2>&1 || fail "the browser could not open the page"
  present "$name.png"
  grep -q CONSOLE "$name.log" && fail "the page writes to the console: $(grep CONSOLE "$name.log" | head -3)"
  grep -oE '"url":"https?://[^"]*' "$name.net" | grep -v 'google\|gvt1\|chrome' | head -3 | grep . && fail "the page asks the network"
  return 0
}
visit wide --window-size=1200,1600
visit phone --window-size=390,1600
visit dark --window-size=1200,1600 --blink-settings=preferredColorScheme=0
# Three different pictures, none of them blank: a blank PNG of this size has a few kilobytes.
for name in wide phone dark; do
  [ "$(stat -c %s $name.png)" -gt 30000 ] || fail "the $name screenshot looks empty"
done
cmp -s wide.png dark.png && fail "the page ignores the dark colour scheme"
[ -n "${KEEP:-}" ] && cp ./*.png "$KEEP"

finish
