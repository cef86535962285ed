"""Exit 0 if this environment has rushhour, editable from here, and all its packages."""

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

root = Path(__file__).resolve().parents[1]
project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
names = [re.split(r"[<>=!~\[; ]", text)[0] for text in wanted]
try:
    origin = metadata.distribution("rushhour").read_text("direct_url.json") or ""
    for name in names:
        metadata.version(name)
except metadata.PackageNotFoundError:
    sys.exit(1)
same = root.as_uri() in origin and metadata.version("rushhour") == project["version"]
sys.exit(0 if same else 1)
