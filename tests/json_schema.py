"""JSON values before docs/schema: the parts of JSON Schema (draft 2020-12) that these schemas use. A member that a schema lacks is a fault here."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs/schema"
SCHEMAS = {file.name: json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json"))}
KNOWN = {"$schema", "title", "description", "$defs", "$ref", "type", "properties", "required", "additionalProperties", "items",
         "enum", "minimum", "pattern", "anyOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at="$"):
    """What is wrong with a value, as lines."""
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{at}: this test does not know {unknown}"]
    if not set(schema) - {"description"}:
        return []
    if "$ref" in schema:
        ref = schema["$ref"]
        if ref.startswith("#/$defs/"):
            return faults(value, root["$defs"][ref[8:]], root, at)
        return faults(value, SCHEMAS[ref], SCHEMAS[ref], at)
    if "anyOf" in schema:
        tried = [faults(value, one, root, at) for one in schema["anyOf"]]
        return [] if any(not one for one in tried) else [f"{at}: fits none of {len(tried)}"] + min(tried, key=len)
    out = []
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_type(value, kind) for kind in kinds):
        return [f"{at}: {value!r} is no {' or '.join(kinds)}"]
    if "enum" in schema and value not in schema["enum"]:
        out.append(f"{at}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"]:
        out.append(f"{at}: {value!r} is less than {schema['minimum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        out.append(f"{at}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        out += [f"{at}: no {name}" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            here = properties.get(name, schema.get("additionalProperties"))
            out += [f"{at}: {name} is in no schema"] if here is None else faults(member, here, root, f"{at}.{name}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            out += faults(item, schema.get("items", {}), root, f"{at}[{i}]")
    return out
