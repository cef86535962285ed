"""The folders of the repository and the packages that are shipped."""

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("kernels", "roadnets", "traffic", "viewer")


def test_every_folder_of_modules_is_shipped() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = [
        path.parent.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py")
    ]
    found = {".".join(("rushhour", *folder.parts)) for folder in folders}
    # The rooms are links there; what is not is a package of its own.
    for folder, _, names in os.walk(ROOT / "rushhour"):  # which follows no links
        if "__init__.py" in names:
            found.add(".".join(Path(folder).relative_to(ROOT).parts))
    assert found | {"rushhour"} == set(settings["tool"]["setuptools"]["packages"])
    assert all((ROOT / folder / "__init__.py").exists() for folder in folders)
