"""What README and docs/ show as printed is what the commands print, and the figures of README are those of docs/."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from checked_runs import check
from real_data import data_folder

from rushhour.cli import make_parser
from rushhour.roadnets.fixes import read_fixes
