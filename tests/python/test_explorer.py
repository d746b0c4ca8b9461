"""The explorer in a cell, and the pages that Sphinx makes of the docstrings."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import attica
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_theory_in_a_cell(tmp_path):
    shown = attica.explore("gauss-double-descent", grid={"rho": [0.2, 0.6]}, alpha=[0.5, 2.0], height=500)
    cell = shown._repr_html_()
    assert cell.startswith("<iframe srcdoc=") and "height:500px" in cell
    page = html.unescape(re.search('srcdoc="([^"]*)"', cell).group(1))
    assert page == shown.page == shown.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" in page and "test_error" in page and "https://" not in page.split("</head>")[0]


def test_refusals_are_sentences():
    with pytest.raises(attica.Error, match="rho"):
        attica.explore("gauss-double-descent", grid={"rho": [2.0]})
    with pytest.raises(attica.Error, match="height"):
        attica.explore("gauss-double-descent", height=3)


def test_sphinx_makes_pages_of_all_docstrings(tmp_path):
    pytest.importorskip("sphinx", reason="Sphinx is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(ROOT / "docs" / "python-api"), str(tmp_path / "api"),
         "-d", str(tmp_path / "trees")],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    page = (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
    for name in ("judge", "theory", "measure", "explore", "coordcheck", "Run.to_xarray", "Theory"):
        assert f'id="attica.{name}"' in page, name
