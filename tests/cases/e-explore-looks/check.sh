#!/usr/bin/env bash
# What the page of `attica explore` is made of; how it behaves in a browser is tried by tests/program/browser.py.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 explore gauss-double-descent --export page.html --grid 'model.rho=[0.1, 0.7]'
python 0 - <<'PYTHON'
import itertools, json, re
page = open("page.html", encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
parameters = {p["key"]: p for p in data["study"]["parameters"]}
# What another parameter leaves without a meaning is known, and why.
word = json.loads(parameters["model.covariance"]["value"])
unused = {k for k, p in parameters.items() if "used_with" in p and word not in p["used_with"]["words"]}
assert unused == {"model.nu", "model.tau", "model.file", "model.standardise"}, unused
# Every parameter has a meaning as text.
assert all(p["meaning"] for p in parameters.values())
# No two of the first curves share a dash, and all dashes differ.
dashes = json.loads(re.search(r"const dashes = (\[\[.*?\]\]);", page)[1])
assert len(dashes) >= 7 and len({tuple(d) for d in dashes}) == len(dashes), dashes
assert "dash: dashes[(layers * k + number) % dashes.length]" in page
# Colours stand apart for deuteranopes and protanopes, too: Machado, Oliveira and Fernandes (2009), severity 1; CIE 1976.
kinds = [[(.367322, .860646, -.227968), (.280085, .672501, .047413), (-.011820, .042940, .968881)],
         [(.152286, 1.052583, -.204868), (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)]]
def lab(colour, rows):
    linear = [(v / 12.92 if v <= .04045 else ((v + .055) / 1.055) ** 2.4) for v in (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))]
    seen = [min(1, max(0, sum(a * b for a, b in zip(row, linear)))) for row in rows]
    xyz = [sum(a * b for a, b in zip(row, seen)) for row in [(.4124, .3576, .1805), (.2126, .7152, .0722), (.0193, .1192, .9505)]]
    f = [v ** (1 / 3) if v > .008856 else 7.787 * v + 16 / 116 for v in (x / w for x, w in zip(xyz, (.9505, 1, 1.089)))]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])
palettes = re.search(r"const palettes = \{light: (\[.*?\]), dark: (\[.*?\])\}", page)
for name, palette in zip(("light", "dark"), map(json.loads, palettes.groups())):
    for rows, (a, b) in itertools.product(kinds, itertools.combinations(palette, 2)):
        distance = sum((u - v) ** 2 for u, v in zip(lab(a, rows), lab(b, rows))) ** .5
        assert distance > 14, (name, a, b, distance)
# Targets of 24 px.
assert re.search(r"button, select, input\[type=text\] \{ min-height: 24px; min-width: 24px; \}", page)
assert re.search(r"input\[type=range\] \{[^}]*height: 24px", page)
PYTHON
finish
