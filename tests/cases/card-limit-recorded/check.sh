#!/usr/bin/env bash
# [[limit]] of one's own card is the margin of the limit of large size when the run is judged later, too.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
"$program" run limit.toml --name limit --quiet >out 2>err </dev/null
"$program" check runs/limit-* --extrapolate >out 2>err </dev/null
says out "margin 0.2:"
finish
