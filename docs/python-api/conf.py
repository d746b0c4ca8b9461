"""Sphinx: the pages of the package's functions and classes, from their docstrings.

PYTHONPATH=build/python sphinx-build -W docs/python-api build/python-api
"""

project = "attica"
author = "the attica project"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_title = "attica in Python"
exclude_patterns = []
autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def _as_written(app, what, name, obj, options, lines):
    """Docstrings are plain text: paragraphs as they stand, `>>>` as examples, no markup."""
    plain = []
    for line in lines:
        example = line.lstrip().startswith((">>>", "..."))
        plain.append(line if example or not line.strip() else "| " + line.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|").replace("`", "\\`").replace("_ ", "\\_ "))
    lines[:] = plain


def setup(app):
    app.connect("autodoc-process-docstring", _as_written)
