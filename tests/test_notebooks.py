"""Runs and worlds in real notebooks, in a real browser: a cell is run and shows the page that plays them."""

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Final

import pytest
from browsers import chromium
from viewed_run import record

import rushhour as rh

HOMES: Final = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")  # fmt: skip
Notebook = Callable[[Path, int], tuple[list[str], str]]
TRIES: Final = 600  # a tenth of a second each
SHOWN: Final = 560  # pixels high
CELLS: Final = (
    """import rushhour as rh
run = rh.open_run("run.h5")
run""",
    """net = rh.generate("grid", rows=2, columns=2)
world = rh.World(net, rh.vehicles_on_road(net, 25, seed=3), dt=0.25)
world.step(20)
world""",
)


def jupyterlab(folder: Path, port: int) -> tuple[list[str], str]:
    """Write a notebook of cells that nobody has run; the words that serve it, and where."""
    cells = [{"cell_type": "code", "id": f"c{k}", "execution_count": None, "metadata": {}, "outputs": [], "source": cell} for k, cell in enumerate(CELLS)]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (folder / "seen.ipynb").write_text(json.dumps(text), encoding="utf-8")
    words = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--IdentityProvider.token=known"]  # fmt: skip
    return words, f"http://127.0.0.1:{port}/lab/tree/seen.ipynb?token=known"


def marimo(folder: Path, port: int) -> tuple[list[str], str]:
    """The same of marimo, which runs its cells as it is opened."""
    takes = ("", "rh")  # of each cell, and what it gives to others
    cells = ["\n    ".join([f"@app.cell\ndef _({takes[k]}):", *cell.splitlines(), f"return {takes[1 - k]}"]) for k, cell in enumerate(CELLS)]  # fmt: skip
    text = "\n\n\n".join(("import marimo\n\napp = marimo.App()", *cells))
    (folder / "seen.py").write_text(text, encoding="utf-8")
    words = ["run", "seen.py", "--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]  # fmt: skip
    return words, f"http://127.0.0.1:{port}/"


@contextmanager
def served(folder: Path, words: list[str], address: str) -> Iterator[None]:
    """Python with these words, once the address answers; nothing of the user's own settings is read."""
    homes = {name: str(folder / name.lower()) for name in HOMES}
    log = folder / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen([sys.executable, "-m", *words], cwd=folder, env=os.environ | homes, stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process,
    ):  # fmt: skip
        try:
            for _ in range(TRIES):
                try:
                    urllib.request.urlopen(address, timeout=60).close()
                    break
                except urllib.error.URLError:
                    assert process.poll() is None, log.read_text()
                    sleep(0.1)
            else:
                pytest.fail(log.read_text())
            yield
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("notebook", [jupyterlab, marimo], ids=lambda one: one.__name__)
def test_cells_that_end_in_a_run_and_in_a_world_show_their_pages(
    tmp_path: Path, notebook: Notebook
) -> None:
    for needed in (notebook.__name__, "anywidget"):
        pytest.importorskip(needed)
    record(tmp_path / "run.h5", steps=40, vehicles=30)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words, address = notebook(tmp_path, port)
    with served(tmp_path, [notebook.__name__, *words], address), chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 1500})
        page.goto(address)
        if notebook is jupyterlab:
            page.get_by_text("| Idle").wait_for(timeout=120_000)  # what is run before is lost
            page.get_by_text("import rushhour").click()
            for _ in CELLS:
                page.keyboard.press("Shift+Enter")
        for k, (end, vehicles) in enumerate(((20.0, 30), (5.0, 25))):
            found = page.locator("iframe[title=rushhour]").nth(k)
            found.wait_for(timeout=120_000)
            assert found.bounding_box()["height"] == SHOWN
            frame = found.element_handle().content_frame()
            frame.wait_for_function("window.rushhour && rushhour.drawn > 0", timeout=60_000)
            assert frame.evaluate("rushhour.end") == pytest.approx(end)
            assert frame.evaluate("rushhour.facts.vehicles.length") >= vehicles
            if k == 0:
                frame.locator("#play").click()
                frame.wait_for_function("rushhour.time > 1")
        if shots := os.environ.get("RUSHHOUR_SHOTS"):
            page.screenshot(path=str(Path(shots) / f"{notebook.__name__}.png"))


def test_what_makes_no_page_or_a_large_one_is_told_as_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anywidget")
    run = rh.open_run(record(tmp_path / "run.h5", steps=40, vehicles=30))
    world = rh.World(run.network(), rh.vehicles_on_road(run.network(), 25, seed=3), dt=0.25)
    view = "application/vnd.jupyter.widget-view+json"
    for one in (run, world):
        assert view in one._repr_mimebundle_()[0]  # what Jupyter asks for
        asked = rh.show(one)._repr_mimebundle_()[0]
        assert "run this cell" in asked["text/plain"]  # all that a saved notebook has of it
        with monkeypatch.context() as changed:
            changed.setattr("rushhour.viewer.notebook.MOST_INLINE", len(one._display_().page) // 2)
            assert one._repr_mimebundle_() is None
            assert one._display_()._repr_html_() == one._repr_html_()  # what marimo shows
    with monkeypatch.context() as changed:
        changed.setitem(sys.modules, "anywidget", None)
        assert world._repr_mimebundle_() is None
    run.close()
    assert run._repr_mimebundle_() is None
