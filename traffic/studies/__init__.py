"""Studies: a base, its variants, axes and seeds, as runs, tables and a report (docs/studies.md)."""
