"""The site in chromium: widths, colours, keyboard and search.   site_browser.py SITE_FOLDER

Each page is looked at 1280 and 390 px wide, light and dark: nothing is wider than the window, every text has a contrast of
at least 4.5 against what is behind it, nothing is asked of a network and nothing is complained of. With
ATTICA_SCREENSHOTS=FOLDER it leaves pictures there."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

import websocket

SITE = pathlib.Path(sys.argv[1]).resolve()
PAGES = ["index", "docs/gallery", "docs/guide", "docs/papers", "docs/studies", "docs/cli", "docs/studies/bigrams-regularisation"]
SCREENSHOTS = os.environ.get("ATTICA_SCREENSHOTS")
PATIENCE = 120  # seconds
failures = 0

# What is wider than the window, and texts of too little contrast, of what is seen.
LOOK = r"""(() => {
  const parts = c => { const n = c.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n.slice(0, 3), 1] : n; };
  const over = (top, under) => [0, 1, 2].map(k => top[k] * top[3] + under[k] * (1 - top[3]));
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
                       return .2126 * r + .7152 * g + .0722 * b; };
  const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
  const behind = node => { if (!node) return canvas; const c = parts(getComputedStyle(node).backgroundColor);
                           return over(c, behind(node.parentElement)); };
  const wide = document.documentElement.scrollWidth > innerWidth + 1 ? [`page: ${document.documentElement.scrollWidth}`] : [];
  const pale = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || /^(SCRIPT|STYLE)$/.test(node.tagName) || !node.getClientRects().length) continue;
    const under = behind(node), [a, b] = [light(over(parts(getComputedStyle(node).color), under)), light(under)].sort((x, y) => y - x);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)} ${node.tagName} ${walk.currentNode.data.trim().slice(0, 30)}`);
  }
  return {wide, pale: pale.slice(0, 5)};
})()"""


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what, file=sys.stderr)


def until(condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Tab:
    def __init__(self, socket):
        self.socket = websocket.create_connection(socket, suppress_origin=True, timeout=PATIENCE)
        self.count, self.complaints = 0, []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.count:
                return message.get("result", {})
            self.hear(message)

    def hear(self, message):
        p = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append("asks for " + p["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(p["exceptionDetails"]["text"])

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def open(self, page, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=(SITE / f"{page}.html").as_uri())
        check(until(lambda: self.value("document.readyState === 'complete' && location.pathname.endsWith('%s.html')" % page)), f"{page} opens")

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **extra)

    def picture(self, name):
        if SCREENSHOTS:
            pathlib.Path(SCREENSHOTS, name + ".png").write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = pathlib.Path(folder, "DevToolsActivePort")
            if not until(lambda: port.exists() and port.read_text().count("\n") >= 1):
                sys.exit("chromium does not start")
            request = urllib.request.Request(f"http://127.0.0.1:{port.read_text().split()[0]}/json/new?about:blank", method="PUT")
            tab = Tab(json.load(urllib.request.urlopen(request))["webSocketDebuggerUrl"])
            for page in PAGES:
                for width in (1280, 390):
                    for scheme in ("light", "dark"):
                        tab.open(page, width, scheme)
                        seen = tab.value(LOOK)
                        where = f"{page}, {width} px, {scheme}"
                        check(not seen["wide"], f"{where}: wider than the window: {seen['wide']}")
                        check(not seen["pale"], f"{where}: contrast below 4.5: {seen['pale']}")
                        tab.picture(f"{page.replace('/', '-')}-{width}-{scheme}")
            # Keyboard alone: to the search, to a result, to the page; the first stop of Tab leads past the navigation.
            tab.open("index", 1280, "light")
            second = tab.value("document.querySelectorAll('nav a')[1].getAttribute('href')")
            check(second == "docs/gallery.html", f"the second page is the gallery, not {second}")
            tab.press("Tab", 9)
            check(tab.value("document.activeElement.className") == "skip", "the first stop of Tab is the link to the text")
            tab.press("/", 191, "/")
            check(tab.value("document.activeElement.id") == "search", "/ leads to the search")
            tab.call("Input.insertText", text="proximal l1")
            check(until(lambda: tab.value("document.querySelectorAll('#found a').length > 0")), "the search finds l1 proximal steps")
            tab.press("ArrowDown", 40)
            check(tab.value("document.activeElement.parentElement.id") == "found", "an arrow leads to the first result")
            target = tab.value("document.activeElement.getAttribute('href')")
            tab.press("Enter", 13, "\r")
            check(until(lambda: tab.value("location.href").endswith(target)), "Enter opens the result")
            check(not tab.complaints, f"complaints: {tab.complaints[:3]}")
        finally:
            browser.terminate()
            browser.wait(timeout=20)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
