"""The reference of the C++ library, from the comments in its headers.

A declaration is what follows a block of `///` lines outside of function bodies, up to its `;` or `{`. Of a class, the public part
is read. Comments keep the project's few commands: @brief, @param, @return, @throws, @pre, @source, @shape, @name."""

import html
import re
from pathlib import Path

FOLDERS = {
    "core": "Vocabulary and problems",
    "solvers": "Solvers and statistics",
    "theory": "Theory",
    "sim": "Simulation",
    "studies": "Studies",
    "plots": "Figures",
}
LABELS = {"param": "", "return": "Returns ", "throws": "Throws ", "pre": "Requires ", "source": "Source: ", "shape": "Shape: "}


def prose(lines):
    """HTML of a comment: paragraphs, indented blocks as formulas, one item a command."""
    body, items, paragraph, block, current = "", "", [], [], None

    def inline(text):
        return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(re.sub(r"@shape\{([^}]*)\}", r"(\1)", text)))

    def flush():
        nonlocal body, items, paragraph, block, current
        text = inline(" ".join(paragraph).strip())
        if current == "param" and text:
            name, _, rest = text.partition(" ")
            text = f"<code>{name.rstrip(',')}</code> {rest}"
        if text:
            if current in LABELS:
                items += f"<li>{LABELS[current]}{text}</li>\n"
            else:
                body += f"<p>{text}</p>\n"
        if block:
            body += f"<pre>{html.escape(chr(10).join(block))}</pre>\n"
        paragraph, block, current = [], [], None

    for line in lines:
        if line.startswith("  ") and current not in LABELS:  # a formula
            if not block and paragraph:
                flush()
            block.append(line[2:])
            continue
        if not line.strip() or block:
            flush()
        first, *commands = re.split(r" ?@(param|return|throws|pre|source|brief|name|file|class|shape)(?!\{) ?", line)
        if first.strip() not in ("", "{", "}", "@{", "@}"):
            paragraph.append(first.strip())
        for command, rest in zip(commands[::2], commands[1::2]):
            flush()
            if command not in ("file", "name", "class"):
                current = command
                paragraph.append(rest.strip())
    flush()
    return body + (f"<ul>\n{items}</ul>\n" if items else "")


def without_body(declaration):
    """A declaration without body, initialisers of members and final punctuation, on one line."""
    text = re.sub(r"\s+", " ", declaration).strip()
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and (sign == "{" or text[place:place + 3] == " : "):
            text = text[:place]
            break
    return text.rstrip(" ;{=")


def declarations(text):
    """(comment lines, declaration, members) of a header, in its order; members of public parts likewise."""
    found, comment, depth, head = [], [], 0, ""
    owners = []      # depth, list and visibility of the classes around
    skipped = None   # depth below which all is a body or an initialiser
    visible = True
    for raw in text.splitlines():
        line = raw.strip()
        own, _, trailing = line.partition("///<")
        if line.startswith("///") and not line.startswith("///<"):
            if skipped is None and not head:
                comment.append(line[3:].removeprefix(" "))
            continue
        if line.startswith(("#", "//")) or not line:
            if not line and not head:
                comment = []
            continue
        own = own.split("// ")[0].strip()
        if skipped is None and re.fullmatch(r"(public|private|protected):", own):
            visible = own == "public:"
            comment = []
            continue
        opens, closes = own.count("{"), own.count("}")
        if skipped is not None or re.match(r"(inline )?namespace\b", own):
            depth += opens - closes
            if skipped is not None and depth <= skipped:
                skipped = None
            continue
        if owners and depth + opens - closes < owners[-1][0] and not head and own.startswith("}"):
            depth += opens - closes
            _, _, visible = owners.pop()
            comment = []
            continue
        if own.startswith("}"):
            depth += opens - closes
            continue
        head = f"{head} {own}".strip()
        ends = own.endswith((";", "}")) or opens > closes
        if trailing:
            comment.append(trailing.strip())
        if not ends:
            continue
        kind = re.match(r"(?:template <.*?> )?(class|struct|enum class|enum) (?:\[\[\w+\]\] )?(\w+)", head)
        entry = (comment, head, [])
        target = owners[-1][1] if owners else found
        if visible and comment and not re.match(r"(using namespace|friend)\b", head):
            target.append(entry)
        if kind and opens > closes:
            depth += opens - closes
            owners.append((depth, entry[2], visible))
            visible = kind[1] != "class"
        elif opens > closes:
            skipped = depth
            depth += opens - closes
        head, comment = "", []
    return found


def page_of_header(path, root):
    """The section of one header."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(root).as_posix()
    first = re.search(r"/// @file\n((?:///.*\n)*)", text)
    intro = [line[3:].removeprefix(" ") for line in first[1].splitlines()] if first else []
    rest = text[first.end():] if first else text
    body = f"<h2>{html.escape(name)}</h2>\n{prose(intro)}"

    def listed(entries, level):
        out = ""
        for comment, head, members in entries:
            out += f'<h{level} class="declaration"><code>{html.escape(without_body(head))}</code></h{level}>\n'
            out += prose(comment) + listed(members, level + 1)
        return out

    return body + listed(declarations(rest), 3)


def pages(root):
    """Page -> HTML: a page for every folder of headers and a list of them."""
    made, rows = {}, []
    for folder, meaning in FOLDERS.items():
        for place in sorted({p.parent for p in (root / folder).rglob("*.hpp")}):
            label = place.relative_to(root).as_posix()
            headers = sorted(place.glob("*.hpp"))
            made[f"docs/api/{label.replace('/', '-')}"] = (
                f"<h1>{label}</h1>\n<p>{meaning}; include as <code>attica/{label}/...</code>, "
                "all names are in the namespace <code>attica</code>.</p>\n" + "".join(page_of_header(h, root) for h in headers))
            rows.append(f'<li><a href="api/{label.replace("/", "-")}.html">{label}</a>: '
                        f'{", ".join(h.stem for h in headers)}</li>\n')
    made["docs/api"] = (
        "<h1>C++ reference</h1>\n<p>From the comments of the headers: meaning, shapes, normalisation, errors and source of every "
        "declaration. How to link the library: <a href=\"../examples/README.html\">examples</a>.</p>\n<ul>\n" + "".join(rows) + "</ul>\n")
    return made
