"""Write the choices of a recipe into tree.schema.json, from the classes in `treewright.recipes`.

    python tools/tree_schema.py           write the file
    python tools/tree_schema.py --check   fail if the file differs

The rest of the file (schema, nodes, splits, cuts) is written by hand and kept.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import typing
from pathlib import Path
from typing import Any

from treewright.recipes.choice import LARGEST_WHOLE, Choice, Range, split_optional
from treewright.recipes.criterion import Custom
from treewright.recipes.recipe import Recipe
from treewright.recipes.saved_names import ADDED_SETTINGS, saved_name, saved_setting

FILE = Path(__file__).parents[1] / "src" / "treewright" / "tree" / "tree.schema.json"
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def form_of(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a setting or field by its type."""
    kinds, optional = split_optional(hint)
    if all(isinstance(kind, type) and issubclass(kind, Choice) for kind in kinds):
        options = [{"$ref": f"#/$defs/{saved_name(kind)}"} for kind in kinds] + [{"type": "null"}] * optional
        return {"oneOf": options} if len(options) > 1 else options[0]
    (kind,) = kinds
    if typing.get_origin(kind) is typing.Literal:
        return {"enum": list(typing.get_args(kind))}
    if typing.get_origin(kind) is tuple:
        form: dict[str, Any] = {"type": "array", "items": form_of(typing.get_args(kind)[0])}
    elif typing.get_origin(kind) is typing.Annotated:
        form = {"type": TYPES[typing.get_args(kind)[0]], **limits_of(*typing.get_args(kind))}
    else:
        form = {"type": TYPES[kind]}
    return form | {"type": [form["type"], "null"]} if optional else form


def limits_of(kind: type, limits: Range) -> dict[str, Any]:
    """Return the limits of a number; whole numbers stay below what the core can hold."""
    form: dict[str, Any] = {"exclusiveMinimum" if limits.open_low else "minimum": limits.low}
    if limits.high < math.inf:
        form["exclusiveMaximum" if limits.open_high else "maximum"] = limits.high
    return form | ({"exclusiveMaximum": LARGEST_WHOLE} if kind is int else {})


def properties_of(owner: Any) -> dict[str, Any]:
    """Return the JSON Schema of every setting of a choice, or of every field of a recipe."""
    hints = typing.get_type_hints(owner, include_extras=True)
    saved_by_name = {"function": {"type": "string", "description": "the name of the function, which is not saved"}}
    return {
        saved_setting(owner, field.name): saved_by_name["function"]
        if owner is Custom and field.name == "function"
        else form_of(hints[field.name])
        for field in dataclasses.fields(owner)
    }


def definition_of(choice: Any) -> dict[str, Any]:
    """Return the JSON Schema of a choice."""
    name = saved_name(choice)
    properties = {"choice": {"const": name}, **properties_of(choice)}
    return {
        "type": "object",
        "description": str(choice.__doc__).strip().split("\n")[0],
        "properties": properties,
        "required": [key for key in properties if key not in ADDED_SETTINGS.get(name, {})],
        "additionalProperties": False,
    }


def choices() -> list[type[Choice]]:
    """Return every choice that a field of a recipe can have, in the order of the fields."""
    found = (kind for hint in typing.get_type_hints(Recipe).values() for kind in split_optional(hint)[0])
    return list(dict.fromkeys(kind for kind in found if isinstance(kind, type) and issubclass(kind, Choice)))


def updated(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the recipe and the choices as they are in the code."""
    properties = properties_of(Recipe)
    recipe = schema["properties"]["recipe"] | {
        "properties": properties,
        "required": [name for name in properties if name not in ADDED_SETTINGS["Recipe"]],
    }
    own = {name: form for name, form in schema["$defs"].items() if name[0].islower()}
    return schema | {
        "properties": schema["properties"] | {"recipe": recipe},
        "$defs": {saved_name(choice): definition_of(choice) for choice in choices()} | own,
    }


def text_of(value: Any, levels: int, indent: str = "") -> str:
    """Return JSON with one key per line in the outer levels."""
    if not isinstance(value, dict) or not levels:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    lines = [
        f"{inner}{json.dumps(key)}: {text_of(one, 1 if key == '$defs' else levels - 1, inner)}"
        for key, one in value.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def main() -> int:
    """Write or check the file."""
    written = FILE.read_text(encoding="utf-8")
    text = text_of(updated(json.loads(written)), levels=4) + "\n"
    if "--check" not in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    elif text != written:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
