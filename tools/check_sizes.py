"""Check that files, functions and folders of core/ and src/ stay small: `python tools/check_sizes.py`.

The length of a function counts its body without the docstring. In formatted C++ a body ends at the first brace that is
indented like its head.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES, MOST_FUNCTION_LINES, MOST_FILES = 400, 60, 20
ENDINGS = {".py", ".cpp", ".hpp", ".js", ".css"}


#: The last line of a head in C++: not a statement, a type, a lambda or a list of values.
OTHERS = r"(?:if|for|while|switch|else|do|catch|struct|class|enum|return|case|try)\b|\}"
HEAD = re.compile(rf"(?P<indent> *)(?!{OTHERS})[^=]*\).*\{{$")


def python_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of a Python file with their lengths."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def cpp_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of a C++ file with their lengths."""
    lines = source.splitlines()
    for i, line in enumerate(lines):
        if head := HEAD.match(line):
            end = head["indent"] + "}"
            body = next((n for n, later in enumerate(lines[i + 1 :]) if later.startswith(end)), 0)
            yield line.strip(), body


def faults() -> Iterator[str]:
    """Yield one line for everything that is too large."""
    found = [path for top in ("core", "src") for path in sorted((ROOT / top).rglob("*")) if path.is_file()]
    kept = [path.relative_to(ROOT) for path in found if path.parent.name != "__pycache__" and path.suffix != ".pyi"]
    files = [path for path in kept if path.suffix in ENDINGS]
    for folder, count in Counter(path.parent for path in kept).items():
        if count > MOST_FILES:
            yield f"{folder}: {count} files, at most {MOST_FILES}"
    for path in files:
        source = (ROOT / path).read_text(encoding="utf-8")
        if (lines := len(source.splitlines())) > MOST_LINES:
            yield f"{path}: {lines} lines, at most {MOST_LINES}"
        functions = {".py": python_functions, ".cpp": cpp_functions, ".hpp": cpp_functions}.get(path.suffix)
        for name, count in functions(source) if functions else ():
            if count > MOST_FUNCTION_LINES:
                yield f"{path}: {name} has {count} lines, at most {MOST_FUNCTION_LINES}"


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)
