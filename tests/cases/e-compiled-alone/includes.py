"""Names of the project that a source uses without including, itself or through its headers, what declares them.

    includes.py PROJECT

Compiled together with its neighbours such a source builds; alone it does not (-DATTICA_TOGETHER=OFF, ./dev lint). Names are those
that stand at the start of a line in exactly one header, and nowhere else: functions, and types by their first letter.
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("core", "solvers", "theory", "sim", "plots", "studies", "sources", "app")
WORD = r"[A-Za-z_]\w*"
TYPE = re.compile(rf"^(?:struct|class|enum class) ({WORD})(?=\s*(?:final\s*)?[:{{])", re.M)
ALIAS = re.compile(rf"^using ({WORD}) =", re.M)
FUNCTION = re.compile(rf"^(?!using|return|namespace|typedef|template|friend)[A-Za-z_][\w:<>,&*\s\[\]]*?[\s&*>]({WORD})\(", re.M)
INCLUDED = re.compile(r'^#include "attica/([\w/]+\.hpp)"', re.M)


def plain(text):
    """Without comments and texts in quotes."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda m: '""' if m[0][0] == '"' else "", text, flags=re.S)


def main():
    root = pathlib.Path(sys.argv[1])
    raw = {str(path.relative_to(root)): path.read_text(errors="replace")
           for folder in FOLDERS for path in (root / folder).rglob("*.[ch]pp")}
    text = {name: plain(content) for name, content in raw.items()}
    includes = {name: INCLUDED.findall(content) for name, content in raw.items()}

    declared = collections.defaultdict(set)
    for name, content in text.items():
        for pattern in TYPE, ALIAS, FUNCTION:
            for found in pattern.findall(content):
                declared[found].add(name)
    # A name of a member, a variable or several places says nothing.
    only = {}
    for word, places in declared.items():
        headers = [place for place in places if place.endswith(".hpp")]
        own = {header[:-3] + "cpp" for header in headers}
        if len(headers) == 1 and all(place in own or place in headers for place in places):
            only[word] = headers[0]
    every = "\n".join(text.values())
    types = collections.Counter(re.findall(rf"\b(?:struct|class|enum|enum class|using) ({WORD})\b", every))
    types.update(re.findall(rf"\b(?:typename|class|auto) ({WORD})\b", every))
    types.update(re.findall(rf"\busing {WORD}::({WORD});", every))
    members = set(re.findall(rf"(?:\.|->|::)({WORD})\s*\(", every))
    indented = set(re.findall(rf"^[ ]+(?!return\b|throw\b|else\b|co_return\b)[A-Za-z_][\w:<>,&*]*[ &*>]+({WORD})\s*[({{=;]", every, re.M))
    enumerators = set(re.findall(rf"^\s+({WORD}),?$", every, re.M))
    only = {word: header for word, header in only.items()
            if (types[word] <= 1 and word not in enumerators if word[0].isupper()
                else word not in members and word not in indented)}

    reached = {}

    def closure(name):
        if name not in reached:
            reached[name] = {name}
            for header in includes.get(name, []):
                reached[name] |= closure(header)
        return reached[name]

    bad = 0
    for name, content in sorted(text.items()):
        known = closure(name)
        own = set(TYPE.findall(content) + ALIAS.findall(content) + FUNCTION.findall(content))
        used = set(re.findall(rf"(?<![\w.>:]){WORD}(?=\s*\()", content))
        used |= set(re.findall(rf"(?<![\w.>:])[A-Z]\w*", content))
        for word in sorted(used & only.keys() - own):
            if only[word] in known or FOLDERS.index(only[word].split("/")[0]) > FOLDERS.index(name.split("/")[0]):
                continue
            # Not what this file declares itself: a variable, a member, a parameter of a template.
            if not re.search(rf"(?<!return)(?<!throw)(?<!case)(?<!else)(?<!const)(?<=[\w>&*\]]) {word}\b(?!::)", content):
                bad += 1
                print(f"{name}: uses {word}, declared in {only[word]}, which it does not include")
    print(f"{len(text)} files, {len(only)} names", file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
