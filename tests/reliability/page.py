"""What the scripts beside it share: the list of studies, and the page that keeps their tables."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def listed(program, only):
    """Names of the studies that contain a text."""
    listing = subprocess.run([program, "list"], check=True, capture_output=True, text=True).stdout
    names = [line.split()[0] for line in listing.splitlines() if line and line[0].isalpha()]
    names = [name for name in names if only in name and name != "own"]
    if not names:
        sys.exit(f"--only = {only} names no study")
    return names


def write(file, mark, text):
    """Puts a text between the lines <!-- mark --> and <!-- end --> of a page."""
    before, rest = file.read_text().split(f"<!-- {mark} -->\n", 1)
    after = rest.split("<!-- end -->", 1)[1]
    file.write_text(f"{before}<!-- {mark} -->\n{text}\n<!-- end -->{after}")
