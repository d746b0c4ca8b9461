#!/usr/bin/env bash
# A card of somebody else starts no program through explore, its page, an exported page or the tools of mcp, whatever
# key names it and wherever that key stands: in the card or in what is sent.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 - "$program" <<'END' || fail "a program of a stranger: $(cat said)"
import http.client, itertools, json, os, re, subprocess, sys

program = sys.argv[1]
said = open("said", "w")
touch = '["touch", "started"]'
COMMANDS = {
    "theory.command": {"theory.command": touch},
    "theory.training.command": {"theory.training.command": touch, "theory.training.start": "[0.5]",
                                "theory.training.times": "[1.0]"},
    "simulation.command": {"simulation.command": touch},
    "simulation.command with seeds": {"simulation.command": '["touch", "started", "{seeds}"]', "simulation.batch": "2"},
    "simulation.command with inputs": {"simulation.command": touch, "simulation.inputs": '["*.toml"]',
                                       "simulation.directory": '"."'},
}
THEORIES = {
    "expression": {"theory.expression": '{y = "x"}'},
    "flow": {"theory.flow.start": '{y = "0"}', "theory.flow.rate": '{y = "1"}', "theory.series": '{y = "y"}'},
    "map": {"theory.map.start": '{y = "0"}', "theory.map.next": '{y = "y + 1"}', "theory.series": '{y = "y"}'},
    "solve": {"theory.solve.unknowns": '{y = "1"}', "theory.solve.fixed": '{y = "x"}', "theory.series": '{y = "y"}'},
    "none": {},
}


def card(name, *parts):
    keys = {"study": '"own"', "x": '"x"', "sweep.x": "[1.0, 2.0]", "agreement.y.relative": "0.1"}
    for part in parts:
        keys |= part
    open(name, "w").write("".join(f"{key} = {value}\n" for key, value in keys.items()))
    return name


def none_started(what):
    if os.path.exists("started") or os.path.exists("0"):
        print(what, file=said, flush=True)
        sys.exit(1)


def explored(file, messages, *options):
    """What the page answers to messages; [] if explore does not start."""
    process = subprocess.Popen([program, "explore", file, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", process.stdout.readline().strip())
        if not address:
            return []
        answers = []
        for path, body in messages:
            connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=60)
            connection.request("POST", address[2] + path, json.dumps(body))
            answers.append(connection.getresponse().read().decode())
            connection.close()
        return answers
    finally:
        process.kill()
        process.wait()


ENDS = ("theory", "curves", "simulate")
# In the card.
for (theory, given), (key, named) in itertools.product(THEORIES.items(), COMMANDS.items()):
    file = card("stranger.toml", given, named)
    answers = explored(file, [(end, {}) for end in ENDS] + [("simulate", {"sim.replicates": "2"})])
    none_started(f"explore of {theory} with {key}")
    if key.startswith("simulation") and theory != "none" and not any("--allow-commands" in a for a in answers):
        print(f"explore of {theory} with {key} does not name the option: {answers}", file=said, flush=True)
        sys.exit(1)
    subprocess.run([program, "explore", file, "--export", "page.html", "--quiet"], capture_output=True)
    none_started(f"exported page of {theory} with {key}")
# In what the page sends, on a card without.
for theory in ("expression", "flow"):
    file = card("harmless.toml", THEORIES[theory])
    for key, named in COMMANDS.items():
        sent = {**named, "sim.replicates": "2"}
        explored(file, [(end, sent) for end in ENDS] + [("figure", {"values": sent})])
        none_started(f"{key} sent to the page of {theory}")
# The tools.
server = subprocess.Popen([program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(method, parameters):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())["result"]


plain = {key: {k: json.loads(v) for k, v in named.items()} for key, named in COMMANDS.items()}
open("t.csv", "w").write("x,value\n1,1\n2,2\n")
open("s.csv", "w").write("x,replicate,value\n" + "".join(f"{x},{r},{x + 0.01 * r}\n" for x in (1, 2) for r in range(30)))
for tool in ask("tools/list", {})["tools"]:
    properties = tool["inputSchema"]["properties"]
    files = {"theory": "t.csv", "simulation": "s.csv"} if tool["name"] == "judge" else {}
    for (theory, given), key in itertools.product(THEORIES.items(), COMMANDS):
        if "target" in properties:
            file = card("stranger.toml", given, COMMANDS[key])
            answer = ask("tools/call", {"name": tool["name"], "arguments": {"target": file}})
            none_started(f"{tool['name']} of {theory} with {key}")
            if not answer["isError"]:
                print(f"{tool['name']} of {theory} with {key} is not refused", file=said, flush=True)
                sys.exit(1)
        if "set" in properties:
            target = {"target": card("harmless.toml", given)} if "target" in properties else files
            ask("tools/call", {"name": tool["name"], "arguments": {**target, "set": plain[key]}})
            none_started(f"{tool['name']} of {theory}, {key} sent")
server.stdin.close()
server.wait(20)
# The card is one that would start it.
card("own.toml", THEORIES["expression"], COMMANDS["simulation.command"])
subprocess.run([program, "run", "own.toml", "--replicates", "2", "--quiet"], capture_output=True)
if not os.path.exists("started"):
    print("the card starts nothing at all", file=said, flush=True)
    sys.exit(1)
END
finish
