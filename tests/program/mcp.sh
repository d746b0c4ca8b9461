#!/usr/bin/env bash
# attica mcp: tools are listed and called; files outside, commands and wrong arguments are refused.
#   mcp.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir inside
echo "x,value
1,1" >theory.csv
cp theory.csv inside/
python3 - >inside/measured.csv <<'PYTHON'
import random
rng = random.Random(1)
print("x,replicate,value")
for r in range(40):
    print(f"1,{r},{1 + 0.05 * rng.gauss(0, 1)!r}")
PYTHON
cat >inside/command.toml <<'TOML'
[sweep]
x = [1.0]
[theory]
expression = {y = "x"}
[simulation]
command = ["touch", "started"]
[agreement.y]
relative = 0.1
TOML
cat >inside/far.toml <<'TOML'
[theory]
file = "../theory.csv"
[simulation]
file = "measured.csv"
[agreement.value]
relative = 0.1
TOML
ln -s ../theory.csv inside/link.csv
sed '3s/^/#/' inside/measured.csv >inside/remark.csv
sed '3s/,[^,]*$/,nan/' inside/measured.csv >inside/failed.csv
cp inside/measured.csv kept.csv
python3 - "$program" >out 2>&1 <<'PYTHON' || fail "$(cat out)"
import json
import subprocess
import sys

server = subprocess.Popen([sys.argv[1], "mcp"], cwd="inside", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(message):
    server.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def call(name, **arguments):
    return ask({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}})


start = ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
assert start["id"] == 1 and start["result"]["serverInfo"]["name"] == "attica", start
server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n\n')
tools = {t["name"]: t for t in ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})["result"]["tools"]}
assert list(tools) == ["list", "claims", "theory", "judge", "plan", "fit", "bound"], list(tools)
assert tools["judge"]["inputSchema"]["required"] == ["theory", "simulation"], tools["judge"]
# Nothing that a tool writes is named by who asks.
written = {"out", "folder", "output", "junit", "metrics", "export", "force", "json", "name"}
for tool in tools.values():
    assert not written & set(tool["inputSchema"]["properties"]), tool
assert not written & set(tools["judge"]["inputSchema"]["properties"])

judged = call("judge", theory="theory.csv", simulation="measured.csv", margin="5%")["result"]
assert not judged["isError"] and judged["structuredContent"]["verdict"] == "AGREE", judged
assert judged["structuredContent"]["schema"] == "attica/check/1"
wrong = call("judge", theory="theory.csv", simulation="measured.csv", margin=0.0001)["result"]
assert wrong["structuredContent"]["verdict"] in ("INCONCLUSIVE", "DISAGREE")
# What is remarked upon a table stands with the verdict, and behind its JSON.
remarked = call("judge", theory="theory.csv", simulation="remark.csv", margin="5%")["result"]["content"]
assert json.loads(remarked[0]["text"])["verdict"] == "AGREE" and len(judged["content"]) == 1, remarked
assert "remark.csv:3: a line that begins with '#'" in remarked[1]["text"], remarked
failed = call("judge", theory="theory.csv", simulation="failed.csv", margin="5%")["result"]
assert not failed["isError"] and failed["structuredContent"]["counts"]["failed"] == 1, failed
theory = call("theory", target="gauss-lambda", set={"model.rho": 0.3, "sweep.lambda": [0.1, 1]})["result"]
assert theory["structuredContent"]["parameters"]["model.rho"] == 0.3, theory
assert "gauss-lambda" in call("list", word="ridge")["result"]["content"][0]["text"]

for arguments, said in [
    (("judge", {"theory": "../theory.csv", "simulation": "measured.csv"}), "a file in"),
    (("judge", {"theory": "/etc/passwd", "simulation": "measured.csv"}), "a file in"),
    (("judge", {"theory": "link.csv", "simulation": "measured.csv"}), "a file in"),
    (("judge", {"theory": "theory.csv"}), "simulation"),
    (("judge", {"theory": "theory.csv", "simulation": "measured.csv", "margins": 1}), "did you mean 'margin'"),
    (("judge", {"theory": "theory.csv", "simulation": "measured.csv", "out": "/tmp"}), "not an argument"),
    (("judge", {"theory": "theory.csv", "simulation": "measured.csv", "metrics": "measured.csv"}), "not an argument"),
    (("judge", {"theory": "theory.csv", "simulation": "measured.csv", "junit": "../theory.csv"}), "not an argument"),
    (("judge", {"theory": "theory.csv", "simulation": "measured.csv", "folder": "../run"}), "not an argument"),
    (("plan", {"target": "command.toml"}), "names a command"),
    (("bound", {"target": "command.toml"}), "names a command"),
    (("theory", {"target": "far.toml"}), "a file in"),
    (("theory", {"target": "../far.toml"}), "a file in"),
    (("theory", {"target": "gauss-lambda", "set": {"model.rho\nsim.seed": 1}}), "set"),
    (("theory", {"target": "--help"}), "help"),
    (("plan", {"target": "topics-text", "set": {"model.file": "/etc/passwd"}}), "a file in"),
]:
    result = call(arguments[0], **arguments[1])["result"]
    assert result["isError"] and said in result["content"][0]["text"], (arguments, result)
for message, code in [
    ("{", -32700), ("[]", -32600), ("[" * 5000, -32600), ('{"jsonrpc":"2.0","id":1,"method":"x"}', -32601),
    ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run"}}', -32602), ('{"id":1,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"judge","arguments":{"margin":1,"margin":9}}}', -32600),
]:
    assert ask(message)["error"]["code"] == code, message
server.stdin.close()
assert server.wait(20) == 0
PYTHON
cmp inside/measured.csv kept.csv || fail "a tool wrote over a table"
[ ! -e inside/started ] || fail "a command of a configuration was started"
finish
