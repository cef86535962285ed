"""A busy little world under every command that changes ways, limits, wishes and kinds."""

from command_worlds import two_ways

from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import LANE_ALLOWED, VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World


def controlled_world() -> World:
    """Two ways from one end to the other, commands planned for the first 40 s."""
    network = two_ways(lanes=2)
    kinds = [VehicleType(name="car"), VehicleType(name="short", length=4.0, max_speed=9.0)]
    builder = DemandBuilder()
    ends = [network.road_index[name] for name in ("in", "out")]
    for k in range(60):
        kind = kinds[k % 2]
        builder.add(Trip(f"car{k}", 1.5 * k, kind, ends, routed=False, depart_lane=LANE_ALLOWED))
    given = Parameters({"rerouting.fraction": 0.3, "rerouting.period": 10.0})
    world = World(network, builder.build(), parameters=given, dt=0.25, seed=3)
    plan(world)
    return world


def plan(world: World) -> None:
    """Plan a command of each kind; some are refused by then."""
    world.schedule(6.0, "set_speed_limit", places=["short", "out_0"], speed=6.0)
    world.schedule(25.0, "set_speed_limit", places=["short"], speed=None)
    world.schedule(7.0, "add_vehicles", trips=[
        {"id": "bus", "route": ["in", "long", "out"], "type": "bus", "depart": 9.0},
        {"origin": "in", "destination": "out"},
    ])  # fmt: skip
    world.schedule(20.0, "set_destination", vehicle="bus", road="out")
    world.schedule(5.0, "set_route", vehicle=["car0", "car1"], roads=["in", "long", "out"])
    world.schedule(12.0, "set_destination", vehicle=[2, 3, 4], road="out")
    world.schedule(
        8.0, "stop_at", vehicle=["car2", "car3"], road="out", position=120.0, duration=8.0
    )
    world.schedule(
        9.0, "stop_at", vehicle="car2", road="short", position=300.0, duration=5.0, lane=1
    )
    world.schedule(10.0, "request_lane", vehicle=["car4", "car5", "car6"], lane=1, duration=15.0)
    world.schedule(11.0, "set_type", vehicle=["car4", "car5"], type_name="short")
    world.schedule(13.0, "set_speed", vehicle=["car6", "car7"], speed=[5.0, 3.0])
    world.schedule(30.0, "set_speed", vehicle="car6", speed=None)
