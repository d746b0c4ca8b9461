#!/usr/bin/env bash
# Commands of study own run with LC_ALL=C, whatever the desktop's language; `env` sets another.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >own.toml <<'EOF'
study = "own"
[theory]
expression = "1.5"
[simulation]
command = ["sh", "-c", 'echo value; if [ "$LC_ALL" = C ]; then echo 1.5; else echo 1,5; fi']
[agreement.y]
relative = 0.01
deterministic = true
[sim]
replicates = 8
EOF
LC_ALL=de_DE.UTF-8 run 0 run own.toml --out runs --name german
says out "AGREE"
"$program" init own >template.toml
LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 run 0 run template.toml --out runs --name template
sed 's/\["sh"/["env", "LC_ALL=C.UTF-8", "sh"/' own.toml >other.toml
run 2 run other.toml --out runs --name other
finish
