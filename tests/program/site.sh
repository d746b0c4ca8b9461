#!/usr/bin/env bash
# The site builds: no broken link, no forgotten page, nothing from a network; every study has its page.
#   site.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for tool in cmark-gfm python3; do
  command -v $tool >/dev/null || {
    echo "SKIPPED: no $tool here; ./dev docs installs it" >&2
    exit 77
  }
done
"$project/docs/build" "$program" "$work/site" >out 2>err || fail "docs/build: $(cat err)"
"$program" list | while read -r study _; do
  grep -q "<code>sim.replicates</code>" "site/docs/studies/$study.html" || echo "$study"
done >without
[ ! -s without ] || fail "no page with parameters: $(tr '\n' ' ' <without)"
says site/docs/cli.html '<h2 id="attica-run">attica run</h2>'
finish
