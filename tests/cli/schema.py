# What commands print with --json, before docs/schema: schema.py WGRUN TREE. Members that a schema lacks are faults here;
# for programs that read the JSON they are none, for versions to come may add some.
import json
import os
import re
import subprocess
import sys

WGRUN, TREE = sys.argv[1:3]
sys.path.insert(0, os.path.join(TREE, "tests"))
from json_schema import SCHEMAS, faults


def covered(value, schema, root, seen):
    """Notes the members that occur in a value."""
    if "$ref" in schema:
        ref = schema["$ref"]
        root = root if ref.startswith("#") else SCHEMAS[ref]
        return covered(value, root["$defs"][ref[8:]] if ref.startswith("#") else root, root, seen)
    for one in schema.get("anyOf", []):
        if not faults(value, one, root):
            covered(value, one, root, seen)
    if isinstance(value, dict):
        for name, member in value.items():
            if name in schema.get("properties", {}):
                seen.add(id(schema["properties"][name]))
                covered(member, schema["properties"][name], root, seen)
    if isinstance(value, list) and "items" in schema:
        for item in value:
            covered(item, schema["items"], root, seen)
    return seen


def members(schema, path=""):
    for name, one in schema.get("properties", {}).items():
        yield path + "." + name, one
        yield from members(one, path + "." + name)
    if isinstance(schema.get("items"), dict):
        yield from members(schema["items"], path + "[]")
    for part in list(schema.get("anyOf", [])) + list(schema.get("$defs", {}).values()):
        yield from members(part, path)


used, seen, bad = set(), set(), []


def check(name, *words, codes=(0, 1)):
    run = subprocess.run([WGRUN, words[0], "--json", *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = f"wgrun {words[0]} --json {' '.join(words[1:])}"
    try:
        value = json.loads(run.stdout)
    except ValueError:
        bad.append(f"{said}: no JSON: {run.stdout[:200]!r} {run.stderr[:300]!r}")
        return None
    if run.returncode not in codes:
        bad.append(f"{said}: exit code {run.returncode}: {run.stderr[:300]}")
    schema = SCHEMAS[name]
    bad.extend(f"{said}: {fault}" for fault in faults(value, schema, schema))
    covered(value, schema, schema, seen)
    used.add(name)
    return value


GOOD = os.path.join(TREE, "scripts", "hello_wgmma.lua")
open("bad.lua", "w").write("""local wg = require "wgrun"
wg.kernel("bad", { threads = 128 }, function(k)
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
  local a, b, D = k:shared(tile, "a"), k:shared(tile, "b"), k:param("D", "f32*")
  local zero = k:mov_b32(0)
  k:st_shared_u32(a, zero)
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 })
  k:wgmma_wait_group(0)
  k:store_accumulator(acc, { to = D, ld = 64, row = 0, col = 0, rows = 64, cols = 64 })
end)
""")
open("tune.lua", "w").write("""local wg = require "wgrun"
return { name = "fill", cache = false, space = { threads = { 32, 64, 1 } }, build = function(o)
  if o.threads == 1 then return nil, "too few" end
  return wg.kernel("fill", { threads = o.threads }, function(k) k:param("X", "f32*") end), { grid = { 1 }, args = { wg.zeros("f32", { 8 }) } }
end }
""")
open("things.lua", "w").write("""local wg = require "wgrun"
return {
  tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" },
  fragment = wg.fragment { of = "wgmma_d", dtype = "f32", n = 64 },
}
""")
os.environ["WGRUN_CACHE"] = os.path.join(os.getcwd(), "cache")

doctor = check("doctor.json", "doctor")
ptxas = "path" in doctor["ptxas"]
check("run.json", "run", "--backend=sim", GOOD)
check("run.json", "run", "no.lua", codes=(2,))
found = check("check.json", "check", "bad.lua")
if not found["findings"]:
    bad.append("nothing is found in bad.lua")
check("check.json", "check", "--diff", "bad.lua")
check("check.json", "check", os.path.join(TREE, "tests", "ptx", "missing_fence.ptx"))
check("check.json", "check", "--assemble", GOOD)
check("check.json", "check", "--assemble", "--perf", os.path.join(TREE, "tests", "ptx", "missing_fence.ptx"), codes=(0, 1, 3))
for command in ("ptx", "cuda"):
    check(command + ".json", command, GOOD)
for command in ("report", "sass"):
    check(command + ".json", command, GOOD, codes=(0, 1))
kept = os.path.join(TREE, "tests", "sass", "hello_wgmma.")
check("sass.json", "sass", kept + "ptx", kept + "sass")
check("sass.json", "sass", "--brief", kept + "ptx", kept + "sass")
check("sass.json", "sass", kept + "sass")
check("check.json", "check", "--budget", "1", "--sass", kept + "ptx", kept + "sass")
check("check.json", "check", "--sass", kept + "sass")
check("bench.json", "bench", "--backend=sim", GOOD)
check("tune.json", "tune", "--backend=sim", "--results", "tuned.jsonl", "tune.lua")
check("tune.json", "tune", "--merge", "merged.jsonl", "tuned.jsonl")
check("export.json", "export", GOOD, "-o", "exported")
check("rules.json", "rules")
for code in ("WG-FENCE-01", "C7510", "700"):
    check("explain.json", "explain", code)
check("isa.json", "isa")
check("isa.json", "isa", "wgmma")
for expression in ("8:1", "(8,(2,2)):(1,(8,16))", "m16n8k8"):
    check("layout.json", "layout", expression)
for thing in ("tile", "fragment"):
    check("layout.json", "layout", "things.lua", thing)
check("decode.json", "decode", "0x4000004000010080")
check("new.json", "new")
check("new.json", "new", "elementwise", "made.lua")
for action in ("info", "verify", "clear"):
    check("cache.json", "cache", action)
check("timeline.json", "timeline", GOOD)
check("help.json", "help")
check("help.json", "help", "wg.tile")

# Messages and answers.
messages = [{"id": 1, "file": GOOD}, {"id": [2], "command": "run", "text": "print(1)", "name": "x.lua", "args": ["a"], "seconds": 9},
            {"id": 3, "command": "layout", "args": ["--help"]}, {"id": 4, "command": "decode", "options": {"x": True}},
            {"id": 5, "command": "none"}, {"id": 6, "text": "while true do end", "seconds": 0.2}, {"cancel": 7}]
answers = subprocess.run([WGRUN, "serve"], input="\n".join(map(json.dumps, messages)), capture_output=True, text=True).stdout
bad += ["serve: no answer of each kind"] * (len(answers.splitlines()) != 6)
legal = re.search(r"no command `none` \(legal: (.+?)\)", answers).group(1).split(", ")
if sorted(legal) != sorted(SCHEMAS["message.json"]["anyOf"][0]["properties"]["command"]["enum"]):
    bad.append(f"message.json: commands are {legal}")
for name, lines in (("message", messages), ("answer", [json.loads(line) for line in answers.splitlines()])):
    schema = SCHEMAS[name + ".json"]
    used.add(name + ".json")
    for line in lines:
        bad += [f"serve, {name}: {fault}" for fault in faults(line, schema, schema)] if line.get("id") != 5 or name == "answer" else []
        covered(line, schema, schema, seen)

# The checker itself: what is wrong is seen.
for value, count in (({"start": 0, "lbo": 0, "sbo": 0, "base_offset": 0, "swizzle": "32B"}, 0), ({}, 5),
                     ({"start": "0", "lbo": 0, "sbo": -1, "base_offset": 0, "swizzle": "16B", "more": 1}, 4)):
    if len(faults(value, SCHEMAS["decode.json"], SCHEMAS["decode.json"])) != count:
        bad.append(f"the checker sees {faults(value, SCHEMAS['decode.json'], SCHEMAS['decode.json'])} in {value}")
# What the tool reads, of which check_launch.sh makes launches.
launch = json.load(open(os.path.join(TREE, "tests", "ptx", "launch.json")))
bad += [f"launch.json: {fault}" for fault in faults(launch, SCHEMAS["launch.json"], SCHEMAS["launch.json"])]
used.add("launch.json")

for name in sorted(set(SCHEMAS) - used - {"finding.json", "measurements.json", "chips.json"}):
    bad.append(f"{name}: no output of any command was compared with it")
print("\n".join(bad[:40]))
never = [name + path for name, schema in SCHEMAS.items() for path, one in members(schema) if id(one) not in seen]
print(f"{len(SCHEMAS)} schemas; members that did not occur: {', '.join(never) or 'none'}" + ("" if ptxas else " (no ptxas)"))
sys.exit(bool(bad))
