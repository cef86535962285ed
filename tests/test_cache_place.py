"""Where compiled code is kept: homes that are absent or read-only, and folders that others may write."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from numba import config

ROOT = Path(__file__).resolve().parents[1]
NO_SUCH_USER = 54321  # without an entry in passwd
BRAKE = """
import os, sys
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.compiling.jit import cache_folder
print(round(float(stopping_distance(10.0, 2.5)), 3))
print(cache_folder("following.car_following"))
"""
pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="no owners and modes there"),
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled"),
]
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes somebody else"
)


# The interpreter may stand in a folder of root's: this user reads everything, and writes nothing.
AS_NOBODY = [
    "setpriv", f"--reuid={NO_SUCH_USER}", f"--regid={NO_SUCH_USER}", "--clear-groups",
    "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search",
]  # fmt: skip


def brakes(
    text: str = BRAKE, before: Sequence[str] = (), **variables: str | None
) -> tuple[Path, list[str]]:
    """Call a kernel in a process of its own: the folder of its code, and the lines it told."""
    given = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None, "RUSHHOUR_TEMPORARY_CACHE": None}
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in (given | variables).items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    done = subprocess.run(
        [*before, sys.executable, "-c", text], capture_output=True, text=True, env=environment,
        cwd="/", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    distance, folder = done.stdout.split()
    assert float(distance) > 10.0
    return Path(folder), done.stderr.splitlines()


def assert_kept_for_now(folder: Path, told: list[str], why: str) -> None:
    """A private folder that is gone, and one line that says why and what to set."""
    assert folder.parent.name.startswith("rushhour-") and not folder.parent.exists()
    assert len(told) == 1 and why in told[0] and "set XDG_CACHE_HOME" in told[0]


HOMES: dict[str, tuple[dict[str, str | None], str]] = {
    "read-only home": ({"HOME": "/proc"}, "/proc/.cache"),
    "home that is no folder": ({"HOME": "/dev/null"}, "/dev/null/.cache"),
    "XDG_CACHE_HOME that cannot be written": ({"XDG_CACHE_HOME": "/proc"}, "/proc/rushhour"),
    "numba's own folder that cannot be": ({"NUMBA_CACHE_DIR": "/proc"}, "/proc/rushhour"),
}


@pytest.mark.parametrize("case", HOMES)
def test_where_no_folder_can_be_kept_code_is_kept_for_now_and_one_line_says_so(case: str) -> None:
    variables, why = HOMES[case]
    folder, told = brakes(**variables)
    assert_kept_for_now(folder, told, why)


@as_root
@pytest.mark.parametrize("home", [None, "/nonexistent", "/"])
def test_a_user_without_an_entry_in_passwd_drives(home: str | None) -> None:
    probe = [*AS_NOBODY, sys.executable, "-c", ""]
    if not shutil.which("setpriv") or subprocess.run(probe, check=False).returncode:
        pytest.skip("setpriv is not here, or may not give another user the right to read")
    folder, told = brakes(before=AS_NOBODY, HOME=home)
    assert_kept_for_now(folder, told, "home folder" if home is None else "cannot be written")


def test_a_folder_of_the_users_own_is_used_again_in_silence(tmp_path: Path) -> None:
    for _ in range(2):
        folder, told = brakes(XDG_CACHE_HOME=str(tmp_path))
        assert folder.is_relative_to(tmp_path / "rushhour") and told == []
    assert (tmp_path / "rushhour").stat().st_mode & 0o777 == 0o700
    assert list(folder.glob("**/*.nbc"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A cache with compiled code, and the folder of a kernel there, from its root."""
    place = tmp_path_factory.mktemp("compiled")
    folder, _ = brakes(XDG_CACHE_HOME=str(place))
    return place, folder.relative_to(place)


def copied(compiled: tuple[Path, Path], place: Path) -> Path:
    """The same cache in another place, and the folder of the kernel there."""
    shutil.copytree(compiled[0] / "rushhour", place / "rushhour", symlinks=True)
    return place / compiled[1]


def test_files_are_safe_in_a_folder_that_nobody_else_enters(
    compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    """As a user has them whose umask is 002."""
    first = copied(compiled, tmp_path)
    for path in first.glob("**/*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    folder, told = brakes(XDG_CACHE_HOME=str(tmp_path))
    assert folder == first and told == []


def open_base(base: Path, folder: Path) -> None:
    base.chmod(0o777)


def open_folder(base: Path, folder: Path) -> None:
    base.chmod(0o755)
    folder.chmod(0o775)


def open_file(base: Path, folder: Path) -> None:
    base.chmod(0o755)
    next(folder.glob("**/*.nbc")).chmod(0o664)


def other_place(base: Path, folder: Path) -> None:
    folder.rename(base.parent / "elsewhere")
    folder.symlink_to(base.parent / "elsewhere")


def foreign_base(base: Path, folder: Path) -> None:
    os.chown(base, NO_SUCH_USER, NO_SUCH_USER)


def foreign_file(base: Path, folder: Path) -> None:
    os.chown(next(folder.glob("**/*.nbi")), NO_SUCH_USER, NO_SUCH_USER)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (open_base, "others may write"), (open_folder, "others may write"),
        (open_file, "others may write"), (other_place, "not a plain file or folder"),
        pytest.param(foreign_base, "belongs to another user", marks=as_root),
        pytest.param(foreign_file, "belongs to another user", marks=as_root),
    ],
)  # fmt: skip
def test_code_that_somebody_else_could_have_written_is_not_run(
    compiled: tuple[Path, Path], tmp_path: Path, change: object, why: str
) -> None:
    first = copied(compiled, tmp_path)
    assert callable(change)
    change(tmp_path / "rushhour", first)
    folder, told = brakes(XDG_CACHE_HOME=str(tmp_path))
    assert_kept_for_now(folder, told, why)


def test_without_any_folder_kernels_are_compiled_all_the_same() -> None:
    text = f"""
import tempfile
def refuse(*args, **options):
    raise OSError(30, "Read-only file system")
tempfile.mkdtemp = tempfile.TemporaryFile = refuse
{BRAKE}"""
    folder, told = brakes(text, HOME="/proc")
    assert not folder.exists()
    assert len(told) == 1 and "no temporary folder" in told[0] and "XDG_CACHE_HOME" in told[0]


def test_processes_that_are_started_share_the_temporary_folder_in_silence() -> None:
    text = f"""
import subprocess, sys
{BRAKE}
other = subprocess.run([sys.executable, "-c", {BRAKE!r}], capture_output=True, text=True)
assert other.stderr == "" and other.stdout.split()[1] == cache_folder("following.car_following"), other
"""
    folder, told = brakes(text, HOME="/proc")
    assert_kept_for_now(folder, told, "/proc/.cache")
