#!/usr/bin/env bash
# What the page on theories in text says that the program prints is what it prints.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
page=$project/docs/theory-in-text.md
# Its blocks: files by their first line, what stands in four spaces after a block of Python.
/usr/bin/python3 - "$page" <<'END' || fail "the blocks of the page are not found"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
for block in re.findall(r"```(?:toml|python)\n(.*?)```", text, re.S):
    name = re.match(r"# (magnet\.\w+)\n", block)
    if name:
        open(name[1], "w").write(block)
script, printed = re.search(r"```python\n(import attica\n.*?)```\n\n((?:    [^\n]*\n)+)", text, re.S).groups()
open("page.py", "w").write(script)
open("page.txt", "w").write(re.sub(r"(?m)^    ", "", printed))
values = re.search(r"prints m = ([\d.]+) at beta = 1\.3, ([\d.]+) at 1\.5\s+and ([\d.]+) at 2", text)
open("values.txt", "w").write("\n".join(values.groups()))
END
run 0 theory magnet.toml
/usr/bin/python3 - <<'END' || fail "the page's values are not those of: $(cat out)"
import csv, sys
found = [float(row["mean"]) for row in csv.DictReader(open("out"))]
said = open("values.txt").read().split()
sys.exit([f"{y:.4f}" for y in found] != said)
END
run 0 run magnet.toml --name magnet --out runs --quiet
says out "AGREE"
run 3 run magnet.toml --name few --replicates 12 --out runs --quiet
if /usr/bin/python3 -c 'import numpy' 2>/dev/null && [ -d "$(dirname "$program")/python/attica" ]; then
  python 0 page.py
  diff page.txt out >difference || fail "the page's Python prints otherwise: $(cat difference)"
fi
finish
