"""A report: one HTML page that holds its pictures itself, for any browser, without OpenGL."""

from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Final

from rushhour.roadnets.writing import replaced, want_ending

ENDINGS: Final = (".html", ".htm")
STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a202c; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
nav a { margin-right: 1rem; } a { color: #2b6cb0; }
pre { background: #f5f6f8; padding: .8rem; overflow-x: auto; font-size: 13px; line-height: 1.35; }
img { max-width: 100%; height: auto; } p.missing { color: #718096; }
"""


class Page:
    """Sections of text and of pictures, in the order in which they are added."""

    def __init__(self, title: str, below: str) -> None:
        self.pictures = 0
        self._title, self._below = title, below
        self._sections: list[tuple[str, str]] = []

    def add_text(self, heading: str, text: str) -> None:
        """Add lines that stand under each other as in a terminal."""
        self._sections.append((heading, f"<pre>{escape(text)}</pre>"))

    def add_picture(self, heading: str, png: bytes, caption: str) -> None:
        """Add a picture; caption: what is seen, for those who do not see it, too."""
        told = escape(caption, quote=True)
        data = b64encode(png).decode("ascii")
        self._sections.append(
            (heading, f'<p>{told}</p>\n<img alt="{told}" src="data:image/png;base64,{data}">')
        )
        self.pictures += 1

    def add_missing(self, heading: str, why: str) -> None:
        """Say why a section is not there."""
        self._sections.append((heading, f'<p class="missing">{escape(why)}</p>'))

    @property
    def headings(self) -> tuple[str, ...]:
        """Of all sections."""
        return tuple(heading for heading, _ in self._sections)

    def html(self) -> str:
        """The whole page."""
        title = escape(self._title)
        links = " ".join(
            f'<a href="#s{k}">{escape(name)}</a>' for k, name in enumerate(self.headings)
        )
        parts = [
            f'<section id="s{k}">\n<h2>{escape(name)}</h2>\n{inner}\n</section>'
            for k, (name, inner) in enumerate(self._sections)
        ]
        return "\n".join(
            [
                "<!DOCTYPE html>",
                f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
                f"<style>{STYLE}</style></head><body>",
                f"<h1>{title}</h1>\n<p>{escape(self._below)}</p>\n<nav>{links}</nav>",
                *parts,
                "</body></html>\n",
            ]
        )

    def save(self, path: Path) -> None:
        """Write the page. Raises RunError for another ending than ENDINGS, and if it cannot be."""
        want_ending(path, ENDINGS)
        with replaced(path) as part:
            part.write_text(self.html(), encoding="utf-8")
