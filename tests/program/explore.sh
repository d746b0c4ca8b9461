#!/usr/bin/env bash
# The page of `attica explore`, asked over HTTP: what it serves, to whom, and how it ends.   explore.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v python3 >/dev/null || {
  echo "SKIPPED: no python3 here" >&2
  exit 77
}
small=(--set model.sites=40 --set sim.data_sets=1 --set 'sweep.lambda=[1.0]' --set 'sweep.alpha=[0.5, 2.0]')
"$program" run gauss-double-descent "${small[@]}" --replicates 20 --name seen --quiet --set 'plot.formats=["svg"]' >/dev/null 2>&1
# The charts are uPlot, unchanged.
(cd "$project/third_party/uplot" && grep -oE '^    [0-9a-f]{64}  .*' README.md | sha256sum --check --quiet --strict) || fail "third_party/uplot is not what its README says"
python3 - "$program" runs/seen-* <<'PYTHON' || failures=$((failures + 1))
import atexit, csv, http.client, json, re, signal, socket, subprocess, sys, time

program, run = sys.argv[1:]
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what, file=sys.stderr)


class Explorer:
    """`attica explore` while it is served. A script's background jobs ignore Ctrl-C: this one does not."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([program, "explore", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        atexit.register(self.process.kill)  # also when a check ends this script
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.address)
        if not found:
            sys.exit(f"FAILED: explore {arguments}: {self.address} {self.process.stderr.read()}")
        self.port, self.root = int(found[1]), found[2]

    def ask(self, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def theory(self, **values):
        return self.ask(self.root + "theory", json.dumps({k.replace("__", "."): v for k, v in values.items()}))

    def end(self):
        start = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=10)
        check(time.monotonic() - start < 1, "Ctrl-C takes a second or more")
        check(code == 0, f"exit code {code} after Ctrl-C, expected 0")


def digits(text):
    """A JSON text as a value in which numbers are the characters that were printed."""
    return json.loads(text, parse_float=str, parse_int=str)


def attica(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


# The theory's numbers are those of `attica theory`, digit by digit, at the start and at other values.
for study, key, value in [("gauss-double-descent", "model.rho", "0.7"), ("potts-square", None, None)]:
    e = Explorer(study)
    for k, v in [(None, None)] + ([(key, value)] if key else []):
        status, text, _ = e.ask(e.root + "theory", json.dumps({k: v} if k else {}))
        expected = attica("theory", study, "--json", *(["--set", f"{k}={v}"] if k else []))
        check(expected.returncode == 0 and status == 200 and digits(text) == digits(expected.stdout), f"{study} {k}={v}: not as `theory --json`")
    check(json.loads(e.ask(e.root + "curves", "{}")[1])["series"], f"{study}: no curves to draw")
    e.end()

e = Explorer("gauss-double-descent")
# The page, complete in itself, for who knows the token alone.
status, page, headers = e.ask(e.root)
policy = headers["Content-Security-Policy"]
check(status == 200 and "<script nonce=" in page and "@NONCE@" not in page, "no page")
check("default-src 'none'" in policy and re.search(r"nonce-([0-9a-f]{32})", policy)[1] in page, f"policy: {policy}")
check(set(re.findall(r"https?://[^\"'` ]*", page)) <= {"https://github.com/leeoniya/uPlot"}, "the page names other addresses than that of uPlot, in a comment")
check("The MIT License" in page and "Leon Sorokin" in page, "the licence of the charts is not in the page")
for path in ["/", "/study.json", "/theory", "/" + "0" * 32 + "/", e.root[:-2] + "/", e.root + "../", e.root + "nothing"]:
    check(e.ask(path)[0] == 404, f"{path} is served")
check(e.ask("/theory", "{}")[0] == 404, "theory without the token")
# No other page of the browser: neither as an origin nor under a name of its own for this machine.
here = f"127.0.0.1:{e.port}"
for headers, good in [({"Origin": f"http://{here}"}, True), ({"Origin": "http://example.org"}, False), ({"Origin": "null"}, False),
                      ({"Origin": f"http://127.0.0.1:{e.port - 1}"}, False), ({"Host": f"example.org:{e.port}"}, False),
                      ({"Host": "127.0.0.1"}, False), ({"Host": here}, True)]:
    status, text, _ = e.ask(e.root + "theory", "{}", **headers)
    check(status == (200 if good else 403) and ("series" in text) == good, f"{headers}: {status}")
# This machine only.
listening = [line.split()[1] for file in ["/proc/net/tcp", "/proc/net/tcp6"] for line in list(open(file))[1:] if line.split()[3] == "0A"]
check([a for a in listening if a.endswith(f":{e.port:04X}")] == [f"0100007F:{e.port:04X}"], "it listens elsewhere than on 127.0.0.1")

# Bad values are answered with the program's sentence, and the page goes on.
status, text, _ = e.theory(model__rho="1.5")
sentence = json.loads(text)["error"]
check(status == 400 and sentence in attica("theory", "gauss-double-descent", "--set", "model.rho=1.5").stderr, f"bad rho: {text}")
for words in ["model.rho", "1.5", "expected"]:
    check(words in sentence, f"'{words}' is not in: {sentence}")
for values, words in [({"model.colour": "1"}, "model.colour"), ({"model.rho": "0.5\nx = 1"}, "model.rho"), ({"model.rho": "red"}, "model.rho"),
                      ({"model.rho": 0.5}, "model.rho"), ({"model.rho": ""}, "model.rho"), ([1], "object"), ("{", "object")]:
    status, text, _ = e.ask(e.root + "theory", values if isinstance(values, str) else json.dumps(values))
    check(status == 400 and words in json.loads(text)["error"], f"{values}: {status} {text}")
check(e.ask(e.root + "theory", "x" * (1 << 25))[0] == 413, "a body of 32 MB is read")
check(e.theory(model__rho="0.5")[0] == 200, "the page does not go on after bad values")

# Every parameter of the theory has a control with its value, range and meaning.
study = json.loads(e.ask(e.root + "study.json")[1])
shown = {p["key"]: p for p in study["parameters"]}
for p in json.loads(attica("show", "gauss-double-descent", "--json").stdout)["parameters"]:
    key = p["key"] if p["key"] in shown else "sweep." + p["key"].split(".")[-1]
    check(key in shown or p["key"].split(".")[0] in ("check", "plot", "figure") or p["key"] == "sim.replicates", f"no control for {p['key']}")
check("rho" in shown["model.rho"]["range"] and shown["model.rho"]["meaning"], "no range or meaning")

# A port in use is refused before any work, and not shared; one that is free is taken.
answer = attica("explore", "gauss-double-descent", "--port", str(e.port))
check(answer.returncode == 2 and f"'--port' = {e.port}: expected" in answer.stderr, f"port in use: {answer.returncode} {answer.stderr}")
check(attica("explore", "gauss-double-descent", "--port", "65536").returncode == 2, "port 65536 is accepted")
kept = http.client.HTTPConnection("127.0.0.1", e.port)
kept.request("GET", e.root)
kept.getresponse().read()
port = e.port
e.end()  # though a browser keeps its connection
with socket.socket() as s:
    check(s.connect_ex(("127.0.0.1", port)) != 0, "it still listens")
e = Explorer("gauss-double-descent", "--set", "model.rho=0.3", "--port", str(port))
check(e.port == port, "--port is not taken")
check(json.loads(e.ask(e.root + "study.json")[1])["arguments"] == ["--set", "model.rho=0.3"], "--set is not in the command to copy")
check(digits(e.theory()[1]) == digits(attica("theory", "gauss-double-descent", "--set", "model.rho=0.3", "--json").stdout), "--set is forgotten")
e.end()

# The points of a run with their errors, theory and margins, as its tables have them.
e = Explorer(run)
study = json.loads(e.ask(e.root + "study.json")[1])
points = {(s["name"], *s["point"].values(), s["x_name"], x): (y, d) for s in study["overlays"][0]["series"] for x, y, d in zip(s["x"], s["y"], s["sem"])}
rows = list(csv.DictReader(open(run + "/results.csv")))
names = [n for n in rows[0] if n not in ("study", "series", "kind", "x_name", "x", "mean", "sem", "sd", "n")]


def same_number(a, b):
    return a == b or (a != a and b != b)


simulated = [r for r in rows if r["kind"] == "sim"]
predicted = {(r["series"], *[r[n] for n in names], r["x"]): float(r["mean"]) for r in rows if r["kind"] == "theory"}
check(len(simulated) > 0 and len(points) == len(simulated), f"{len(points)} points of {len(simulated)}")
for r in simulated:
    key = (r["series"], *[float(r[n]) for n in names if r[n]], r["x_name"], float(r["x"] or "nan"))
    check(points.get(key) == (float(r["mean"]), float(r["sem"] or 0)), f"point {key}: {points.get(key)}")
compared = 0
for s in study["overlays"][0]["series"]:
    for x, theory, margin in zip(s["x"], s["theory"], s["margin"]):
        if margin > 0:
            compared += 1
            check(any(k[0] == s["name"] and float(k[-1]) == x and v == theory for k, v in predicted.items()), f"theory at {s['name']} {x}: {theory}")
check(compared > 0 and study["overlays"][0]["label"].startswith("seen"), "nothing compared")
start = json.loads(e.theory()[1])["parameters"]
check(start["model.sites"] == 40 if "model.sites" in start else start["model"]["sites"] == 40, "the run's own parameters are not the start")
e.end()

# Tables over the theory: means with their errors, replicates of which these are made, values alone.
open("summary.csv", "w").write("series,alpha,lambda,mean,sem,n\ntest_error,0.5,0.1,1.25,0.125,9\ntest_error,2,0.1,0.5,0.0625,9\n")
open("replicates.csv", "w").write("x;value;replicate\n1;2.0;0\n1;4.0;1\n2;1.0;0\n2;1.0;1\n")
open("values.csv", "w").write("# mine\nx,value,series\n1,0.75,train_error\n")
e = Explorer("gauss-double-descent", "--overlay", "summary.csv", "--overlay", "replicates.csv", "--overlay", "values.csv", "--overlay", run)
overlays = json.loads(e.ask(e.root + "study.json")[1])["overlays"]
check([o["label"].split(",")[0] for o in overlays[:3]] == ["summary.csv", "replicates.csv", "values.csv"] and overlays[3]["label"].startswith("seen"), "labels of overlays")
told = [[{k: s[k] for k in ("name", "point", "x_name", "x", "y", "sem")} for s in o["series"]] for o in overlays[:3]]
expected = [[{"name": "test_error", "point": {"lambda": 0.1}, "x_name": "alpha", "x": [0.5, 2], "y": [1.25, 0.5], "sem": [0.125, 0.0625]}],
            [{"name": "y", "point": {}, "x_name": "", "x": [1, 2], "y": [3, 1], "sem": [1, 0]}],
            [{"name": "train_error", "point": {}, "x_name": "", "x": [1], "y": [0.75], "sem": [0]}]]
check(told == expected, f"overlays: {told}")
status, text, _ = e.ask(e.root + "overlay", json.dumps({"name": "summary.csv", "text": open("summary.csv").read()}))
check(status == 200 and json.loads(text) == overlays[0], f"a table loaded in the page: {text}")
status, text, _ = e.ask(e.root + "overlay", json.dumps({"name": "bad.csv", "text": "x,mean,sem,n\n1,red,1,2\n"}))
check(status == 400 and "bad.csv:2" in text, f"bad table: {text}")
status, text, _ = e.ask(e.root + "figure", json.dumps({"values": {"model.rho": "0.5"}, "overlays": overlays[:1]}))
check(status == 200 and json.loads(text)["svg"].startswith("<?xml"), f"figure: {status} {text[:200]}")
for body in ["{", "{\"overlays\": 3}", "{\"overlays\": [{\"series\": [{}]}]}", "{\"values\": {\"model.rho\": \"2\"}}"]:
    check(e.ask(e.root + "figure", body)[0] == 400, f"figure of {body}")

# A run started here: its progress line by line, then its points, which are in its folder.
status, text, _ = e.ask(e.root + "simulate", json.dumps({"model.sites": "20", "sweep.alpha": "[0.5, 2.0]", "sim.replicates": "40"}))
lines = [json.loads(line) for line in text.splitlines()]
check(status == 200 and all("progress" in l for l in lines[:-1]) and "series" in lines[-1], f"simulate: {status} {text[:300]}")
record = json.load(open(lines[-1]["folder"] + "/check.json"))
check("/runs/gauss-double-descent-" in lines[-1]["folder"] and lines[-1]["verdict"] == record["verdict"], f"run: {lines[-1]['folder']}")
for values, word in [({"model.rho": "2"}, "model.rho"), ({"sim.replicates": "0"}, "sim.replicates"), ([], "object")]:
    status, text, _ = e.ask(e.root + "simulate", json.dumps(values))
    check(status == 400 and word in json.loads(text)["error"], f"simulate {values}: {status} {text}")
e.end()

# The page as a file, with its grid.
answer = attica("explore", "gauss-double-descent", "--export", "page.html", "--grid", "model.rho={linear = [0.2, 0.6], n = 3}", "--grid", "model.sites=[10, 20]", "--set", "sweep.lambda=[1.0]")
check(answer.returncode == 0 and answer.stdout == "page.html\n", f"--export: {answer.returncode} {answer.stderr}")
page = open("page.html").read()
check("<script src" not in page and "<link rel=\"stylesheet" not in page and "default-src 'none'" in page, "the file is not complete in itself")
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
check(data["grid"] == [{"key": "model.rho", "values": ["0.2", "0.4", "0.6"]}, {"key": "model.sites", "values": ["10", "20"]}], f"grid: {data['grid']}")
check(len(data["theories"]) == 6, f"{len(data['theories'])} theories")
e = Explorer("gauss-double-descent", "--set", "sweep.lambda=[1.0]")
for k, (rho, sites) in enumerate((r, s) for r in ("0.2", "0.4", "0.6") for s in ("10", "20")):
    served = json.loads(e.ask(e.root + "curves", json.dumps({"model.rho": rho, "model.sites": sites}))[1])["series"]
    check([{**s, "x": data["x"][s["x"]]} for s in data["theories"][k]["series"]] == served, f"theory {k} of the file is another")
e.end()
again = attica("explore", "gauss-double-descent", "--export", "page.html")
check(again.returncode == 5 and "'page.html' exists" in again.stderr and open("page.html").read() == page, f"--export over a file: {again.returncode} {again.stderr}")
one = ["gauss-double-descent", "--export", "other.html", "--grid"]
for arguments, words in [(one + ["model.rho"], "KEY=VALUES"), (one + ["model.colour=[1]"], "colour"), (one + ["model.rho=[0.1, 2.0]"], "rho"),
                         (one + ["model.rho=[0.1]", "--grid", "model.rho=[0.2]"], "every parameter once"), (one + ["sweep.alpha=[1.0]"], "scalar of [model] or [sim]"),
                         (one + ["model.rho={linear = [0, 0.9], n = 5000}"], "4096"),
                         (one + ["model.rho=[0.1]", "--grid", "model.sites=[9]", "--grid", "model.x=[1]", "--grid", "model.y=[1]"], "at most 3"),
                         (["gauss-double-descent", "--export", "page.txt"], ".html"), (["gauss-double-descent", "--grid", "model.rho=[0.1]"], "--export"),
                         (["gauss-double-descent", "--overlay", "missing.csv"], "missing.csv"), (["gauss-double-descent", "--overlay", "page.html"], "page.html")]:
    answer = attica("explore", *arguments)
    check(answer.returncode == 2 and words in answer.stderr and not answer.stdout, f"explore {arguments}: {answer.returncode} {answer.stderr}")

# What cannot be explored is refused before the page.
for arguments, words in [(["nothing"], "nothing"), (["gauss-double-descent", "--set", "model.rho=2"], "model.rho"), (["own"], "own")]:
    answer = attica("explore", *arguments)
    check(answer.returncode == 2 and words in answer.stderr and not answer.stdout, f"explore {arguments}: {answer.returncode} {answer.stderr}")
sys.exit(failures > 0)
PYTHON
finish
