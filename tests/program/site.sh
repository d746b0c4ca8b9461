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
# The reference has every header, the public parts of classes and none of their private ones; the search knows them.
git -C "$project" ls-files {core,solvers,theory,sim,studies,plots}'/*.hpp' | while read -r header; do
  page=site/docs/api/$(dirname "$header" | tr / -).html
  grep -qF ">$header</h2>" "$page" || echo "$header"
done >without
[ ! -s without ] || fail "not in the reference: $(tr '\n' ' ' <without)"
says site/docs/api/theory-bigrams.html 'double omega() const</code>'
grep -q 'omega_' site/docs/api/theory-bigrams.html && fail "the reference shows private members"
says site/docs/api/theory-joma.html 'joint_blowup_time('
says site/search.js 'joint_blowup_time('
says site/docs/cli.html '<h2 id="attica-run">attica run</h2>'
finish
