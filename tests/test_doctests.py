"""Examples in the docstrings of public names run, and print what they say."""

import doctest
import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rushhour as rh
from rushhour import kernels
from rushhour.roadnets.storage import save


def documented() -> list[Any]:
    """Public names, and the public methods and properties of those that are classes."""
    found: dict[str, Any] = {}
    for name in sorted(set(rh.__all__) - {"__version__"}):
        thing = getattr(rh, name)
        found[name] = thing
        for member, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            if not member.startswith("_") and (value.__doc__ or "") and hasattr(value, "__doc__"):
                found[f"{name}.{member}"] = value
    found |= {f"kernels.{name}": getattr(kernels, name) for name in kernels.__all__}
    return [
        pytest.param(inspect.getdoc(thing), id=name)
        for name, thing in found.items()
        if ">>>" in (inspect.getdoc(thing) or "")
    ]


pytestmark = pytest.mark.slow


class Checker(doctest.OutputChecker):
    """What an example does not say it prints, it may print."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


ROADS = {
    "south": [(0, -400), (0, 0)],
    "A0A1": [(400, 0), (0, 0)],
    "north": [(0, 0), (0, 400)],
    "ring": [(0, 400), (-300, 500)],
    "west": [(-300, 500), (-700, 500)],
}
ROUTES = """<routes><vType id="bus" vClass="bus"/><vType id="slow car" maxSpeed="8"/><vType id="truck" vClass="truck"/>
<vehicle id="bus3" type="bus" depart="25200" departPos="5" departSpeed="0"><route edges="north ring west"/></vehicle>
<vehicle id="car7" depart="25201" departPos="50" departLane="0"><route edges="north ring west"/></vehicle>
<vehicle id="car9" depart="25202" departPos="5"><route edges="A0A1 north ring west"/></vehicle>
<vehicle id="slow" type="slow car" depart="25500"><route edges="south north"/></vehicle>
<vehicle id="far" type="truck" depart="25860"><route edges="south north"/></vehicle></routes>"""


def town(bodies: bool = False) -> rh.World:
    """What the examples are about: five roads, and who is on them at seven. bodies: of wheels."""
    builder = rh.NetworkBuilder("town")
    for name, points in ROADS.items():
        builder.add_road(points, lanes=2, id=name)
    builder.add_intersection(0, 0, control="all_way_stop", id="centre")
    network = builder.build()
    demand = rh.read_demand([Path("town.rou.xml")], network)
    parameters = rh.Parameters({"steered.bodies": bodies})
    return rh.World(network, demand, parameters=parameters, dt=0.5, seed=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples take for granted."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "town.rou.xml").write_text(ROUTES)
    grid = rh.generate("grid", rows=2, columns=2)
    save(grid, folder / "grid.h5")
    (folder / "base.toml").write_text('network = "grid.h5"\n[demand]\ntrips = 10\nover = "10s"\n')
    (folder / "study.toml").write_text('base = "base.toml"\nseeds = "1"\n')
    (folder / "stops.add.xml").write_text("<additional/>")
    (folder / "trips.csv").write_text("id,depart,origin,destination\na,0,south,west\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        world = town()
        measures = rh.Measures(world, interval="1min")
        world.observers.append(measures)
        with world.record("run.h5", measures=measures):
            world.run("11min", progress=False)
    return folder


@pytest.fixture
def names(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> Iterator[dict[str, Any]]:
    """What examples take for granted besides: a network, trips, a world that runs, a run."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    world = town(bodies="set_tier" in text or "steer_where" in text)
    world.step(20)
    builder = rh.NetworkBuilder("crossing")
    for name, x, y in (("e", 1, 0), ("n", 0, 1), ("w", -1, 0), ("s", 0, -1)):
        builder.add_road([(150 * x, 150 * y), (0, 0)], id=name)
        builder.add_road([(0, 0), (150 * x, 150 * y)], id=f"from {name}")
    with rh.open_run(files / "run.h5") as run:
        yield {
            "rh": rh, "Path": Path, "network": world.network, "demand": world.demand,
            "world": world, "builder": builder, "run": run, "player": SimpleNamespace(x=0.0, y=0.0),
            **{name: getattr(rh, name) for name in rh.__all__},
        }  # fmt: skip


@pytest.mark.parametrize("text", documented())
def test_the_example_of_a_public_name_runs(text: str, names: dict[str, Any]) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(text, dict(names), "example", None, 0)
    told: list[str] = []
    doctest.DocTestRunner(Checker(), verbose=False, optionflags=flags).run(test, out=told.append)
    assert not told, "\n".join(told)
