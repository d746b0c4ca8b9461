"""Length and words of what users read.   pages.py PROJECT_FOLDER

Lines of pages have at most 120 characters (rows of tables aside), paragraphs six lines, README 90 lines, the changelog
30 000 bytes, the glossary 25 terms. Private words, which only the authors understand, are not used: docs/glossary.md has
the ones that stand for something of attica's own. Code between backticks is not looked at.
"""

import pathlib
import re
import sys

# Private word -> what to say instead.
WORDS = {
    r"told wrong": "rejected although it is correct",
    r"tells?|told": "states, reports, predicts",
    r"planted": "perturbed, deliberate, synthetic",
    r"bluntest|blunt": "coarsest resolution",
    r"sittings?": "session",
    r"(comes?|came) to (AGREE|DISAGREE|INCONCLUSIVE|CLAIMS HOLD)": "yields",
    r"what a verdict is worth": "resolution",
    r"slips?": "coding error",
    r"carried on|carr(y|ies) on": "resumed, continues",
    r"recipes? (?!for)": "reference run",
    r"allowances?": "tolerance for neglected terms",
    r"neglects": "leaves out, approximation",
    r"beside": "next to, with, compared with",
}
# Files whose texts are data: a list of stop words.
DATA = {"core/text/corpus.cpp"}
NEW_ITEM = re.compile(r"\s*([-*]|\d+\.) ")


def lines_without_code(text):
    """(number, line, whether it is code) with what stands between backticks blanked."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        code ^= fence
        yield number, re.sub(r"`[^`]*`", "`x`", line), code or fence


def private_words(line):
    for pattern in WORDS:
        for match in re.finditer(rf"\b({pattern})\b", line, re.I):
            yield match[0], WORDS[pattern]


def faults_of_page(path, text, words=True):
    paragraph = 0
    for number, line, code in [*lines_without_code(text), (len(text.splitlines()) + 1, "", False)]:
        raw = text.splitlines()[number - 1] if number <= len(text.splitlines()) else ""
        if len(raw) > 120 and not raw.startswith("|"):
            yield f"{path}:{number}: a line of {len(raw)} characters, at most 120"
        ends = code or not line.strip() or line.lstrip().startswith(("|", "#", "<")) or line.startswith("    ")
        if (ends or NEW_ITEM.match(line)) and paragraph > 6:
            yield f"{path}:{number - paragraph}: a paragraph of {paragraph} lines, at most 6"
        paragraph = 0 if ends else 1 if NEW_ITEM.match(line) else paragraph + 1
        if words and not code:
            for word, instead in private_words(line):
                yield f"{path}:{number}: '{word}': say {instead}"


def faults_of_source(path, text):
    """Private words in what a program says: texts of several words between double quotes."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("//", "#include")):
            continue
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            for word, instead in private_words(re.sub(r"`[^`]*`", "`x`", literal)) if " " in literal.strip() else ():
                yield f"{path}:{number}: '{word}' in a text of the program: say {instead}"


def faults(root):
    pages = sorted(root.glob("docs/*.md")) + sorted(root.glob("docs/notes/*.md"))
    for page in [root / "README.md", root / "CONTRIBUTING.md", *pages]:
        yield from faults_of_page(page.relative_to(root), page.read_text(encoding="utf-8"))
    for page in sorted(root.glob("docs/*.md")):
        if page.name != "glossary.md" and "glossary.md" not in page.read_text(encoding="utf-8"):
            yield f"{page.relative_to(root)}: no link to the glossary"
    for card in sorted(root.glob("studies/*/*.toml")):
        for number, line in enumerate(card.read_text(encoding="utf-8").splitlines(), 1):
            for word, instead in private_words("" if line.lstrip().startswith("#") else " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', line))):
                if word != "allowance":  # the name of a series
                    yield f"{card.relative_to(root)}:{number}: '{word}': say {instead}"
    for folder in ("app", "core", "plots", "solvers", "sources", "studies"):
        for source in sorted(root.glob(f"{folder}/**/*.cpp")):
            path = str(source.relative_to(root))
            yield from faults_of_source(path, source.read_text(encoding="utf-8")) if path not in DATA else ()
    readme = (root / "README.md").read_text(encoding="utf-8").splitlines()
    if len(readme) > 90:
        yield f"README.md: {len(readme)} lines, at most 90"
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if len(changes.encode()) > 30000:
        yield f"CHANGELOG.md: {len(changes.encode())} bytes, at most 30000"
    if not re.search(r"^## \d+\.\d+", changes, re.M):
        yield "CHANGELOG.md: no section is a release"
    for number, line in enumerate(changes.splitlines(), 1):
        if len(line) > 120 and not line.startswith("|"):
            yield f"CHANGELOG.md:{number}: a line of {len(line)} characters, at most 120"
    glossary = (root / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    terms = sum(line.startswith("| ") for line in glossary) - 1
    if terms > 25:
        yield f"docs/glossary.md: {terms} terms, at most 25"


if __name__ == "__main__":
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(bool(found))
