"""`rushhour.compat.install`: libraries that import traci, libsumo or cityflow themselves have ours."""

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from traci_files import scenario

import rushhour.compat
from rushhour.compat.traci import constants, exceptions
from rushhour.roadnets.errors import RushhourError


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Nothing is installed, whatever other files of tests have left so; they find it again."""
    before = dict(sys.modules)
    for name in rushhour.compat.FACES:
        rushhour.compat.uninstall(name)
    yield
    for name in rushhour.compat.FACES:
        rushhour.compat.uninstall(name)
        sys.modules.update({k: m for k, m in before.items() if k.split(".")[0] == name})


@pytest.mark.parametrize("name", ["traci", "libsumo"])
def test_a_client_imports_the_module_and_its_parts(name: str) -> None:
    rushhour.compat.install(name)
    for part in (
        "constants", "exceptions", "vehicle", "trafficlight", "lane", "edge", "simulation", "domain",
        "connection", "_vehicle", "_trafficlight", "_simulation", "main", "step",
    ):  # fmt: skip
        importlib.import_module(f"{name}.{part}")
    client: dict[str, Any] = {}
    exec(  # noqa: S102  (as a library has it)
        f"import {name}, {name}.constants as tc\n"
        f"from {name} import vehicle, trafficlight, TraCIException\n"
        f"from {name}.exceptions import TraCIException as other, FatalTraCIError\n"
        f"from {name}._trafficlight import Logic, Phase\n"
        f"from {name}.constants import VAR_SPEED, CMD_GET_PERSON_VARIABLE\n"
        f"same = {name}.trafficlight.Phase is Phase and {name}.constants is tc\n"
        f"libsumo = {name}.isLibsumo()\n",
        client,
    )
    assert client["same"]
    assert client["libsumo"] is (name == "libsumo")
    assert client["TraCIException"] is client["other"] is exceptions.TraCIException


def test_one_class_of_exception_is_raised_whatever_the_module_is_called(tmp_path: Path) -> None:
    rushhour.compat.install("traci", "libsumo")
    traci, libsumo = (importlib.import_module(name) for name in ("traci", "libsumo"))
    config = scenario(tmp_path)
    with pytest.raises(libsumo.TraCIException) as caught:
        traci.start(["sumo", "-c", str(config), "--lateral-resolution", "0.8"])
    assert caught.value.getCommand() is None
    libsumo.start(["sumo", "-c", str(config)])
    with pytest.raises(traci.exceptions.TraCIException, match="'nobody' is not known"):
        traci.vehicle.getSpeed("nobody")  # one connection, by both names
    traci.close()
    with pytest.raises(traci.FatalTraCIError):
        libsumo.close()


def test_cityflow_is_the_engine_of_rushhour() -> None:
    rushhour.compat.install("cityflow")
    found: Any = importlib.import_module("cityflow")
    assert found.Engine is importlib.import_module("rushhour.compat.cityflow").Engine


def test_another_name_is_refused_in_one_line() -> None:
    with pytest.raises(
        RushhourError, match="install: 'vissim': wanted one of traci, libsumo, cityflow"
    ):
        rushhour.compat.install("traci", "vissim")
    assert "rushhour" not in str(sys.modules.get("traci", ""))


def test_a_process_that_has_no_sumo_imports_traci_after_install() -> None:
    code = (
        "import rushhour.compat as c; c.install('traci'); import traci.constants as tc; import traci; "
        "print(tc.VAR_SPEED, traci.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["64", "rushhour.compat.traci"]


def test_all_constants_have_the_names_and_values_of_sumos() -> None:
    if importlib.util.find_spec("traci") is None:
        pytest.skip("the package traci is not installed (extra: peers)")
    theirs = importlib.import_module("traci.constants")
    if theirs.TRACI_VERSION != constants.TRACI_VERSION:
        pytest.skip(f"the package traci has version {theirs.TRACI_VERSION} of TraCI")
    wanted = {name: getattr(theirs, name) for name in dir(theirs) if name.isupper()}
    assert {name: getattr(constants, name, None) for name in wanted} == wanted


def test_constants_are_many_and_of_numbers() -> None:
    names = [name for name in dir(constants) if name.isupper() and name != "VALUES"]
    assert len(names) > 570
    assert all(isinstance(getattr(constants, name), int | float) for name in names)
    assert (constants.CMD_GET_PERSON_VARIABLE, constants.POSITION_3D) == (0xAE, 0x03)
