"""The newcomer's notebook runs from top to bottom, and comes to what it says."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import rushhour as rh

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "newcomer.ipynb"


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last line, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102  (our own notebook)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


@pytest.mark.slow
def test_the_newcomers_notebook_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    seen: list[Any] = []
    for cell in cells:
        if cell["cell_type"] == "code":
            source = "".join(line for line in cell["source"] if not line.startswith("%"))
            seen.append(shown(source, names))
    pictures = [one for one in seen if isinstance(one, rh.Picture)]
    assert len(pictures) == 3 and len({one.png for one in pictures}) == 3
    assert [type(one).__name__ for one in seen if hasattr(one, "_repr_html_")][:2] == [
        "Network",
        "DataFrame",
    ]
    assert names["by_queue"] < names["usual"] < names["careful"]
    assert names["change"].high < 0.0
    assert "s a trip; by the clock" in capsys.readouterr().out


def test_the_notebook_is_kept_without_outputs() -> None:
    """They would hold the bits of one machine, and make every change of it unreadable."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
