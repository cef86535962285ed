"""What the site has besides docs/: README.md as its first page, the changelog, and the examples.

A hook of mkdocs (mkdocs.yml). Links between those and the pages of docs/ are made to fit; files that
are no page, as the licence, lose theirs.
"""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie elsewhere."""
    pages = {"index.md": _read("README.md"), "CHANGELOG.md": _read("CHANGELOG.md")}
    listed = ["# Examples", "", "Short, run as they are, and run by a test."]
    for path in sorted((ROOT / "examples").iterdir()):
        page = f"examples/{path.stem}.md"
        if path.suffix == ".ipynb":
            pages[page] = _notebook(path)
        elif path.suffix == ".py":
            text = path.read_text(encoding="utf-8")
            pages[page] = f"# {path.name}\n\n```python\n{text}```\n"
            first = text.split('"""')[1].partition("\n")[0]
            listed.append(f"- [{path.name}]({path.stem}.md): {first}")
    pages["examples/index.md"] = "\n".join(listed) + "\n"
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links lead to pages of the site."""
    here = page.file.src_uri
    outside = here in ("index.md", "CHANGELOG.md")

    def leads(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        path = Path("." if outside or here.startswith("examples/") else "docs") / target
        parts = [part for part in path.parts if part != "."]
        while ".." in parts:
            at = parts.index("..")
            del parts[max(0, at - 1) : at + 1]
        place = name = "/".join(parts)
        name = "index.md" if name == "README.md" else name.removeprefix("docs/")
        if name == "examples":
            name = "examples/index.md"
        name = re.sub(r"^(examples/\w+)\.(?:py|ipynb)$", r"\1.md", name)
        if here.startswith("examples/"):
            name = f"examples/{target}" if here == "examples/index.md" else name
        if files.get_file_from_path(name) is None:
            return "]()" if (ROOT / place).exists() else match[0]
        up = "../" * here.count("/")
        return f"]({up}{name}{anchor})"

    return re.sub(r"\[([^\]]*)\]\(\)", r"\1", LINK.sub(leads, markdown))


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _notebook(path: Path) -> str:
    """A notebook as a page: its text, and its cells as code."""
    parts: list[str] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(parts) + "\n"
