"""What tests/program/browser.sh does in chromium, through its DevTools protocol.   browser.py PROGRAM RUN_FOLDER"""

import base64
import csv
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import websocket

PROGRAM, RUN = sys.argv[1:]
SCREENSHOTS = os.environ.get("ATTICA_SCREENSHOTS")
PATIENCE = 120  # seconds; the machine may be busy with other tests
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what, file=sys.stderr)


def until(condition, what, seconds=PATIENCE):
    """Whether it becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    check(False, what)
    return False


class Browser:
    """chromium without a window."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = pathlib.Path(folder, "DevToolsActivePort")
        if not until(lambda: port.exists() and port.read_text().count("\n") >= 1, "chromium does not start"):
            sys.exit(1)
        self.address = f"http://127.0.0.1:{port.read_text().split()[0]}"

    def open(self, address, **media):
        request = urllib.request.Request(f"{self.address}/json/new?about:blank", method="PUT")
        return Page(json.load(urllib.request.urlopen(request))["webSocketDebuggerUrl"], address, **media)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)


class Page:
    """A tab, with all that it asked for and complained of."""

    def __init__(self, socket, address, width=1280, height=900, scheme="light", mobile=False):
        self.socket = websocket.create_connection(socket, suppress_origin=True, timeout=PATIENCE)
        self.count, self.requests, self.complaints = 0, [], []
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.look(width, height, scheme, mobile)
        self.call("Page.navigate", url=address)
        until(lambda: self.value("typeof charts !== 'undefined' && charts.length > 0 && charts.every(c => c.data) && !busy"), f"{address} is not drawn")

    def look(self, width, height, scheme, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def call(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.hear(message)

    def hear(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(p["exceptionDetails"].get("exception", {}).get("description") or p["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def settled(self):
        """The newest theory is drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return until(lambda: self.value("!busy && !waiting"), "the page goes on computing")

    def press(self, key, times=1):
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "Escape": 27, "Tab": 9, "Enter": 13, "+": 187, "-": 189, "0": 48}
        for _ in range(times):
            extra = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=codes[key], **extra)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=codes[key])

    def focus(self, selector):
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")

    def type(self, selector, text):
        self.value(f"{{const box = document.querySelector({json.dumps(selector)}); box.focus(); box.select();}}")
        self.call("Input.insertText", text=text)
        self.press("Enter")

    def place(self, selector):
        return self.value(f"{{const n = document.querySelector({json.dumps(selector)}); n.scrollIntoView({{block: 'center'}}); const r = n.getBoundingClientRect(); [r.x, r.y, r.width, r.height]}}")

    def drag(self, x1, y1, x2, y2):
        mouse = lambda type, x, y, buttons: self.call("Input.dispatchMouseEvent", type=type, x=x, y=y, button="left", buttons=buttons, clickCount=1)
        mouse("mouseMoved", x1, y1, 0)
        mouse("mousePressed", x1, y1, 1)
        for k in (1, 2, 3, 4):
            mouse("mouseMoved", x1 + (x2 - x1) * k / 4, y1 + (y2 - y1) * k / 4, 1)
        mouse("mouseReleased", x2, y2, 0)

    def click(self, selector):
        x, y, width, height = self.place(selector)
        self.drag(x + width / 2, y + height / 2, x + width / 2, y + height / 2)

    def screenshot(self, name):
        if SCREENSHOTS:
            self.value("scrollTo(0, 0)")
            self.value("new Promise(done => setTimeout(done, 300))")
            pathlib.Path(SCREENSHOTS, name + ".png").write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def pixels(self):
        return self.value("charts[0].chart.ctx.canvas.toDataURL()")

    def close(self):
        self.call("Page.close")
        self.socket.close()


class Explorer:
    all = []

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, "explore", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        Explorer.all.append(self)
        self.address = self.process.stdout.readline().strip()

    def children(self):
        """Runs that it started and that are not over."""
        found = []
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(status.parent.name))
        return found

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def where(point):
    """Coordinates by name; 1 and 1.0 are the same."""
    return tuple(sorted((k, float(v) if isinstance(v, (int, float)) else v) for k, v in point.items()))


def theory(*arguments):
    answer = subprocess.run([PROGRAM, "theory", *arguments, "--json"], capture_output=True, text=True)
    return {(s["name"], where(s["point"]), s["x_name"], x): y for s in json.loads(answer.stdout)["series"] for x, y in zip(s["x"], s["y"])}


DRAWN = """charts.flatMap(c => c.content.map((e, i) => ({name: e.series.name, point: e.series.point, x_name: e.series.x_name, theory: e.theory,
  values: c.data[0].map((x, k) => [x, c.data[i + 1][k]]).filter(([x, y]) => y !== undefined && y !== null)})))"""


def compare(page, what, *settings):
    """The values in the charts are the program's at the same x, to the last digit."""
    curves = [c for c in page.value(DRAWN) if c["theory"]]
    words = [w for setting in settings for w in ("--set", setting)]
    alphas = json.dumps([x for x, _ in curves[0]["values"]])
    expected = theory("gauss-double-descent", *words, "--set", f"sweep.alpha={alphas}")
    values = [((c["name"], where(c["point"]), c["x_name"], x), y) for c in curves for x, y in c["values"]]
    wrong = [(key, y, expected.get(key)) for key, y in values if expected.get(key) != y]
    check(not wrong, f"{what}: {len(wrong)} of {len(values)} values are not the program's: {wrong[:1]}")
    check(len(values) >= 400, f"{what}: only {len(values)} values compared")


def quiet(page, root, what, complaints=0):
    page.value("0")
    check(len(page.complaints) <= complaints, f"{what}: the console has {page.complaints}")
    for address in page.requests:
        check(address.startswith((root, "data:", "blob:")), f"{what}: it asked for {address[:200]}")


def served(browser):
    e = Explorer("gauss-double-descent")
    page = browser.open(e.address)
    compare(page, "at the start")
    page.screenshot("light")

    # The file of values is the program's table.
    rows = list(csv.DictReader(page.value("csvFile()").splitlines()))
    expected = theory("gauss-double-descent")
    check(len(rows) == len(expected), f"{len(rows)} rows of {len(expected)} in the CSV")
    for r in rows:
        point = {k: float(v) for k, v in r.items() if k not in ("series", "x_name", "x", "value") and v}
        check(any(k[0] == r["series"] and k[1] == where(point) and k[3] == float(r["x"]) and v == float(r["value"]) for k, v in expected.items()), f"CSV: {r}")

    # A slider moves the curve, by the keys and by the mouse, to the program's numbers.
    before = page.pixels()
    page.focus('input[type=range][aria-label="model.rho"]')
    page.press("ArrowRight", 20)
    page.settled()
    rho = page.value("values['model.rho']")
    check(rho != page.value("study.parameters.find(p => p.key === 'model.rho').value"), "the arrow keys do not move the slider")
    check(page.pixels() != before, "the curve does not move")
    compare(page, f"rho = {rho} by keys", f"model.rho={rho}")
    check(json.loads(page.value("decodeURIComponent(location.hash.slice(1))")) == {"model.rho": rho}, "the state is not in the address")
    x, y, width, height = page.place('input[type=range][aria-label="model.rho"]')
    page.drag(x + width / 2, y + height / 2, x + width / 4, y + height / 2)
    page.settled()
    dragged = page.value("values['model.rho']")
    check(dragged != rho, "the mouse does not move the slider")
    compare(page, f"rho = {dragged} by mouse", f"model.rho={dragged}")
    check(page.value("asCommand()") == f"attica theory gauss-double-descent --set model.rho={dragged}", "another command to copy: " + page.value("asCommand()"))

    # A value that is refused: the sentence, and the last curve, faded.
    quiet(page, e.address, "sliders")
    page.type('[id="model.rho"]', "1.5")
    page.settled()
    check("'model.rho' = 1.5" in page.value("$('status').textContent") and page.value("$('status').className") == "wrong", "bad rho: " + page.value("$('status').textContent"))
    check(page.value("$('figures').className") == "old" and page.value("charts[0].data[0].length") > 10, "the last curve is not kept")
    page.click("#reset")
    page.settled()
    check(page.value("location.hash") == "" and page.value("$('figures').className") == "", "reset does not")
    compare(page, "after reset")

    # The chart by the keyboard: values at the cursor, zoom and back.
    page.focus(".chart")
    page.press("Home")
    page.press("ArrowRight", 3)
    check(page.value("charts[0].chart.cursor.idx") == 3, f"the cursor is at {page.value('charts[0].chart.cursor.idx')}")
    check(page.value("[...document.querySelectorAll('.legend output')].some(o => o.textContent === pretty(charts[0].data[1][3]))"), "no value at the cursor")
    check(page.value("charts[0].spoken.textContent.includes(pretty(charts[0].data[1][3]))"), "the value is not read out")
    x, y, width, height = page.place(".u-over")
    whole = page.value("[charts[0].chart.scales.x.min, charts[0].chart.scales.x.max]")
    page.drag(x + width * 0.3, y + height * 0.3, x + width * 0.6, y + height * 0.7)
    zoomed = page.value("[charts[0].chart.scales.x.min, charts[0].chart.scales.x.max]")
    check(whole[0] < zoomed[0] < zoomed[1] < whole[1], f"no zoom: {zoomed} in {whole}")
    page.focus(".chart")
    page.press("Escape")
    check(page.value("[charts[0].chart.scales.x.min, charts[0].chart.scales.x.max]") == whole, "Escape does not show all of it")
    # The same by keys: + and - about the cursor, 0 all of it; what is read stays in sight.
    scales = "[charts[0].chart.scales.x.min, charts[0].chart.scales.x.max, charts[0].chart.scales.y.min, charts[0].chart.scales.y.max]"
    everything = page.value(scales)
    page.press("+", 3)
    close = page.value(scales)
    check(everything[0] <= close[0] < close[1] <= everything[1] and close[3] - close[2] < 0.5 * (everything[3] - everything[2]), f"+ does not enlarge: {close} in {everything}")
    page.press("ArrowRight", 200)
    seen = page.value("[charts[0].chart.scales.x.min, charts[0].data[0][charts[0].chart.cursor.idx], charts[0].chart.scales.x.max]")
    check(seen[0] <= seen[1] <= seen[2], f"what is read lies beyond the axis: {seen}")
    page.press("-")
    wider = page.value(scales)
    check(wider[3] - wider[2] > close[3] - close[2], f"- does not reduce: {wider} from {close}")
    page.press("0")
    check(page.value(scales) == everything, "0 does not show all of it")
    page.press("-", 2)
    check(page.value(scales) == everything, "- goes beyond all of it")
    for sign, larger in (("+", True), ("0", False)):
        page.value(f"[...document.querySelectorAll('.zoom button')].find(b => b.textContent === '{sign}').click()")
        check((page.value(scales) != everything) == larger, f"the button {sign}")
    # The focus ring of a chart lies within it, clear of the titles of its axes.
    page.focus(".chart")
    check(page.value("""(() => { const chart = charts[0].place, r = chart.getBoundingClientRect(), offset = parseFloat(getComputedStyle(chart).outlineOffset), width = parseFloat(getComputedStyle(chart).outlineWidth),
      out = Math.max(0, offset + width), x = charts[0].node.querySelector('.x').getBoundingClientRect(), y = charts[0].node.querySelector('.y').getBoundingClientRect();
      return r.top - out >= y.bottom - .5 && r.bottom + out <= x.top + .5; })()"""), "the focus ring runs through the titles of the axes")

    # Curves differ in dash and colour at once.
    looks = page.value("charts[0].content.filter(c => c.theory).map(c => [c.look.colour, c.look.dash.join()])")
    check(len({c for c, _ in looks}) == len({d for _, d in looks}) == len(looks) >= 3, f"looks: {looks}")
    check("λ = 0.1" in page.value("charts[0].legend.textContent"), "λ is not written as in figures")

    # Meanings are text that a button opens.
    page.focus('button[aria-label="meaning of model.rho"]')
    meaning = "document.getElementById('meaning of model.rho')"
    check(page.value(f"{meaning}.hidden"), "the meaning is open at the start")
    page.press("Enter")
    check(page.value(f"!{meaning}.hidden && {meaning}.textContent.includes('correlation') && document.activeElement.getAttribute('aria-expanded') === 'true'"), "? does not open the meaning")
    check(page.value("document.getElementById('model.rho').getAttribute('aria-describedby') === 'meaning of model.rho'"), "a box is not described by its meaning")
    page.press("Enter")
    check(page.value("document.querySelectorAll('[title]').length === [...document.querySelectorAll('[title]')].filter(n => n.ariaLabel || n.closest('.legend')).length"), "a meaning is in a title alone")

    # Parameters that another one leaves without a meaning cannot be moved.
    off = "study.parameters.filter(p => document.getElementById(p.key).disabled).map(p => p.key)"
    check(set(page.value(off)) == {"model.nu", "model.tau", "model.file", "model.standardise"}, f"not used with ar1: {page.value(off)}")
    page.value("document.getElementById('model.rho').value = '0.4'; document.getElementById('model.rho').dispatchEvent(new Event('change'))")
    page.value("document.getElementById('model.covariance').value = '\"precision\"'; document.getElementById('model.covariance').dispatchEvent(new Event('change'))")
    page.settled()
    check(set(page.value(off)) == {"model.rho", "model.file", "model.standardise"}, f"not used with precision: {page.value(off)}")
    check(page.value("$('status').className") == "" and "model.rho" not in page.value("asCommand()"), "a value without a meaning is sent: " + page.value("$('status').textContent"))
    page.click("#reset")
    page.settled()

    # Lists are shown with few digits, and computed with all.
    page.type('[id="sweep.alpha"]', "{log = [0.5, 4], n = 4}")
    page.settled()
    page.click("#reset")
    page.settled()
    check(not re.search(r"\d\.\d{9}", page.value("[...document.querySelectorAll('.row input[type=text]')].map(b => b.value).join()")), "a box shows 17 digits")
    compare(page, "with lists of many digits")

    # Everything to press is 24 px high and wide.
    small = """[...document.querySelectorAll('button, select, input[type=text], input[type=range]')].filter(n => n.offsetParent).map(n => [n.id || n.className || n.textContent, n.getBoundingClientRect()])
      .filter(([, r]) => r.height < 24 || r.width < 24).map(([name, r]) => `${name} ${r.width} x ${r.height}`)"""
    check(page.value(small) == [], f"too small to press: {page.value(small)}")

    # Tab reaches every control, in the order of the page.
    page.value("document.activeElement.blur()")
    reached = []
    for _ in range(page.value("document.querySelectorAll('input:not([hidden]), select, button, .chart').length")):
        page.press("Tab")
        reached.append(page.value("document.activeElement.id || document.activeElement.className || document.activeElement.ariaLabel"))
    for name in ("model.rho", "command", "reset", "simulate", "chart"):
        check(name in reached, f"Tab does not reach {name}: {reached}")
    # A curve is hidden and shown by its entry of the legend.
    page.focus(".legend button")
    page.press("Enter")
    check(page.value("charts[0].hidden.size") == 1 and page.value("charts[0].chart.series[1].show") is False, "the legend hides nothing")
    page.press("Enter")
    check(page.value("charts[0].hidden.size") == 0, "the legend does not show it again")

    svg = page.value("svgFile()")
    check(svg.startswith("<?xml") and "</svg>" in svg, f"the figure: {svg[:80]}")

    # Dark, and as wide as a phone.
    contrast = """(() => { const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
      const s = getComputedStyle(document.body), a = light(s.color), b = light(s.backgroundColor); return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); })()"""
    check(page.value(contrast) > 7, f"contrast {page.value(contrast)}")
    before = page.pixels()
    page.look(1280, 900, "dark")
    page.settled()
    check(page.value("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 26)" and page.value(contrast) > 7, "not dark")
    check(page.pixels() != before, "the chart keeps the colours of a light page")
    page.screenshot("dark")
    for width in (390, 320):
        page.look(width, 844, "light", mobile=True)
        page.settled()
        check(page.value(small) == [], f"too small to press at {width}: {page.value(small)}")
        check(page.value("document.documentElement.scrollWidth") <= width, f"{page.value('document.documentElement.scrollWidth')} wide on a screen of {width}")
        check(page.value("(() => { const r = charts[0].chart.root.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && r.top < innerHeight * .62; })()"), f"the chart is not in sight at {width}")
        page.screenshot(f"phone-{width}")
    quiet(page, e.address, "the whole visit", complaints=1)  # the browser logs the value that was refused
    check(all("400" in c for c in page.complaints), f"the console has {page.complaints}")
    page.close()
    e.end()


def families(browser):
    """A study of every family: some curve is drawn, and a panel without one says so."""
    for study in ("potts-flow", "topics-omega", "joma-erf", "deep-stable-rank", "bigrams-flow", "icl-separate", "token-curve", "masked-spectrum"):
        e = Explorer(study)
        page = browser.open(e.address)
        check(page.value("charts.some(c => c.data.slice(1).some(column => column.some(v => v !== undefined && v !== null)))"), f"{study}: nothing is drawn")
        check(page.value("charts.every(c => c.content.length ? c.place.clientHeight > 100 : c.place.clientHeight === 0 && c.note.textContent.includes('no theory'))"), f"{study}: an empty panel")
        check(page.value("$('status').className === '' && charts.every(c => c.node.scrollWidth <= c.node.clientWidth)"), f"{study}: {page.value('$(`status`).textContent')}")
        quiet(page, e.address, study)
        page.close()
        e.end()


def own(browser):
    """A formula of one's own: its numbers move its curve."""
    pathlib.Path("formula.toml").write_text('study = "own"\nx = "t"\n[model]\nrate = 0.5\nheight = 2\n[sweep]\nt = [1.0, 2.0, 4.0]\n[theory]\nexpression = {decay = "height*exp(-rate*t)"}\n')
    e = Explorer("formula.toml")
    page = browser.open(e.address)
    sliders = page.value("[...document.querySelectorAll('input[type=range]')].map(n => n.ariaLabel).sort().join()")
    check(sliders == "model.height,model.rate", f"sliders of a formula: {sliders}")
    page.type('[id="model.rate"]', "1.5")
    page.settled()
    curve = [c for c in page.value(DRAWN) if c["theory"]][0]["values"]
    check(len(curve) > 20 and all(abs(y - 2 * math.exp(-1.5 * t)) < 1e-12 for t, y in curve), f"the formula's curve: {curve[:2]}")
    check(page.value("asCommand()").endswith("formula.toml --set model.rate=1.5") and page.value("$('toml').hidden"), page.value("asCommand()"))
    check(page.value("asPython()").endswith('formula.toml", **{"model.rate": 1.5})'), page.value("asPython()"))
    quiet(page, e.address, "a formula")
    page.screenshot("own")
    page.close()
    e.end()


def overlaid(browser):
    """A run under the theory, tables, and a run that is started in the page."""
    pathlib.Path("own.csv").write_text("alpha,mean,sem,n,series\n0.5,1.1,0.05,20,test_error\n2.0,0.6,0.02,20,test_error\n")
    pathlib.Path("bad.csv").write_text("alpha,mean,sem,n\n0.5,red,0.05,20\n")
    e = Explorer(RUN, "--overlay", "own.csv", "--out", "mine", "--threads", "1")
    page = browser.open(e.address)
    check(page.value("overlays.length") == 2 and page.value("$('overlays').children.length") == 2, "the run and the table are not listed")
    recorded = {(r["series"], float(r["x"])): (float(r["mean"]), float(r["sem"])) for r in csv.DictReader(open(RUN + "/results.csv")) if r["kind"] == "sim" and r["x_name"] == "alpha"}
    drawn = page.value("overlays[0].series.flatMap(s => s.x.map((x, i) => [s.name, x, s.y[i], s.sem[i], s.margin[i]]))")
    check(len(drawn) >= 4 and all(recorded.get((n, x)) == (m, s) for n, x, m, s, _ in drawn if (n, x) in recorded), f"the run's points: {drawn}")
    check(any(margin > 0 for *_, margin in drawn), "no margin")
    points = lambda: page.value("charts.reduce((n, c) => n + c.content.filter(e => !e.theory).length, 0)")
    first = points()
    check(first >= 2, "no points are drawn")
    page.screenshot("run")

    root = page.call("DOM.getDocument")["root"]["nodeId"]
    for name, expected in (("own.csv", 3), ("bad.csv", 3)):
        node = page.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=node, files=[str(pathlib.Path(name).resolve())])
        page.settled()
        until(lambda: page.value("overlays.length") == expected and (name == "own.csv" or "bad.csv" in page.value("$('status').textContent")), f"{name} in the page")
    check("bad.csv:2" in page.value("$('status').textContent"), "the place in bad.csv: " + page.value("$('status').textContent"))
    page.value("document.querySelectorAll('#overlays button')[2].click()")
    check(page.value("overlays.length") == 2, "an overlay cannot be removed")

    # A run of one's own, to its verdict.
    page.type('[id="model.rho"]', "0.5")
    page.type("#replicates", "300")
    page.click("#simulate")
    until(lambda: page.value("stop === null && overlays.length") == 3, "no run comes of it: " + str(page.value("$('outcome').textContent")))
    runs = list(pathlib.Path("mine").glob("*/check.json"))
    check(len(runs) == 1, f"run folders: {runs}")
    if runs:
        record = json.loads(runs[0].read_text())
        check(record["verdict"] in page.value("$('outcome').textContent") and record["verdict"] in page.value("overlays[2].label"), "another verdict: " + page.value("$('outcome').textContent"))
        check('rho = 0.5' in (runs[0].parent / "config.resolved.toml").read_text(), "simulated at another rho")
        means = {(r["series"], float(r["x"])): float(r["mean"]) for r in csv.DictReader(open(runs[0].parent / "results.csv")) if r["kind"] == "sim" and r["x_name"] == "alpha"}
        drawn = page.value("overlays[2].series.flatMap(s => s.x.map((x, i) => [s.name, x, s.y[i]]))")
        check(len(drawn) >= 4 and all(means[n, x] == y for n, x, y in drawn if (n, x) in means), "the points are not those of results.csv")
    check(points() > first, "its points are not drawn")
    page.screenshot("simulated")

    # What cannot be simulated is said before a run is started.
    page.type("#replicates", "many")
    page.click("#simulate")
    until(lambda: "sim.replicates" in page.value("$('outcome').textContent"), "bad replicates: " + page.value("$('outcome').textContent"))
    check(not e.children(), "a run was started all the same")

    # Cancelled by its button, by leaving the page, and by Ctrl-C.
    def start():
        page.type("#replicates", "2000000")
        page.click("#simulate")
        until(lambda: re.match(r"\d+ %", page.value("$('outcome').textContent")), "no progress: " + page.value("$('outcome').textContent"))
        check(len(e.children()) == 1, f"runs: {e.children()}")

    gone = lambda: not e.children()
    start()
    page.screenshot("simulating")
    page.click("#simulate")
    until(gone, "the run goes on after Cancel", 20)
    until(lambda: "cancelled" in page.value("$('outcome').textContent"), "the page does not say that it is cancelled")
    start()
    quiet(page, e.address, "overlays", complaints=2)  # the browser logs the two requests that were refused
    page.close()
    until(gone, "the run goes on without the page", 20)
    page = browser.open(e.address)
    start()
    run = e.children()[0]
    e.end()
    until(lambda: not pathlib.Path(f"/proc/{run}").exists() or "Z" in pathlib.Path(f"/proc/{run}/stat").read_text().rsplit(")", 1)[1].split()[0], "the run goes on after Ctrl-C", 20)
    page.close()


def exported(browser):
    """The file: every theory of the grid, the nearest one marked, nobody asked."""
    rhos, sites = ["0.1", "0.4", "0.8"], ["20", "40"]
    answer = subprocess.run([PROGRAM, "explore", "gauss-double-descent", "--export", "page.html", "--grid", "model.rho=[0.1, 0.4, 0.8]", "--grid", "model.sites=[20, 40]",
                             "--set", "sweep.lambda=[0.1]", "--overlay", RUN], capture_output=True, text=True)
    check(answer.returncode == 0, f"--export: {answer.stderr}")
    address = pathlib.Path("page.html").resolve().as_uri()
    page = browser.open(address)
    shown = page.value("$('nearest').textContent")
    check(shown.startswith("nearest computed curve: model.rho = ") and "asked for" in shown, f"the start is not marked: {shown}")
    for rho in rhos:
        for site in sites:
            page.type('[id="model.rho"]', rho)
            page.type('[id="model.sites"]', site)
            page.settled()
            check(page.value("$('nearest').textContent") == f"nearest computed curve: model.rho = {rho}, model.sites = {site}", page.value("$('nearest').textContent"))
            compare(page, f"file at {rho}, {site}", f"model.rho={rho}", f"model.sites={site}", "sweep.lambda=[0.1]")
    page.type('[id="model.rho"]', "0.5")
    page.settled()
    check("model.rho = 0.4 (asked for 0.5)" in page.value("$('nearest').textContent"), "nearest to 0.5: " + page.value("$('nearest').textContent"))
    page.screenshot("exported")
    before = page.pixels()
    page.focus('input[type=range][aria-label="model.rho"]')
    page.press("ArrowRight")
    page.settled()
    check(page.value("values['model.rho']") == "0.8" and page.pixels() != before, "the slider of the file does not move the curve")
    page.type('[id="model.rho"]', "red")
    page.settled()
    check("'red' is not a number" in page.value("$('status').textContent"), "red: " + page.value("$('status').textContent"))
    check(page.value("document.getElementById('check.margin') === null && [...document.querySelectorAll('.row input[type=text]')].filter(b => !b.disabled).length") == 2, "controls that do nothing can be moved")
    check(page.value("getComputedStyle($('simulate').parentNode).display") == "none", "the file offers a simulation")
    check(page.value("charts[0].content.some(c => !c.theory)"), "the run's points are not in the file")
    quiet(page, address, "the file")
    page.close()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    chromium = Browser(profile)
    try:
        for test in (served, families, own, overlaid, exported):
            test(chromium)
    finally:
        chromium.end()
        for explorer in Explorer.all:  # those that a failed test left
            explorer.process.kill()
            explorer.process.wait()
sys.exit(failures > 0)
