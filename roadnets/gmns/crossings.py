"""Movements, control and signals of the nodes of which a GMNS folder gives the movements.

Exactly the movements of the table exist at such a node; what it leaves open (lanes, turn, control)
is chosen by rule.
"""

from dataclasses import dataclass
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gmns.movements import MovementRow, MovementTable
from rushhour.roadnets.gmns.programs import given_program, yields_at_signals
from rushhour.roadnets.gmns.records import GmnsTables
from rushhour.roadnets.gmns.signals import TimingPlan
from rushhour.roadnets.plans.drafting import Crossing, Rule, minor_legs
from rushhour.roadnets.plans.signals import program
from rushhour.roadnets.plans.street_plan import Corner, Leg
from rushhour.roadnets.plans.turns import Movement, exits_of, movements_of

LAST: Final = -1  # priority of a movement that yields to all others
FIRST: Final = 2  # of one that is said to have no control, where others have
MOST_AT_NODE: Final = 400  # movements from lane to lane
ON_SIGNAL: Final = ("signal", "on_red")


@dataclass
class _Way:
    """A movement with the rows that it is of."""

    movement: Movement
    rows: list[MovementRow]


class Crossings:
    """Says for each corner of a plan what the tables know of it."""

    def __init__(
        self, tables: GmnsTables, movements: MovementTable, plans: list[TimingPlan]
    ) -> None:
        self.tables = tables
        self.rows = movements.by_node
        self.plans_of: dict[str, list[TimingPlan]] = {}  # by movement
        for plan in plans:
            for name in {name for served in plan.letters.values() for name in served}:
                self.plans_of.setdefault(name, []).append(plan)
        self.links = {link.id for link in tables.links}

    def __call__(self, corner: Corner, legs: list[Leg]) -> Crossing | None:
        """What is known of a corner; may change its control."""
        rows = self.rows.get(corner.id, [])
        banned = [row for row in rows if row.prohibited]
        rows = [row for row in rows if not row.prohibited]
        if corner.control == "turning_loop":
            back = not rows or any(row.turn in ("", "U") for row in rows)
            if legs[0].lanes_in != legs[0].lanes_out or banned or not back:
                corner.control = "gate"
            return None
        if corner.control == "gate" or not (rows or banned):
            return None
        self._refuse_many(corner, len(rows) + len(banned))
        pairs = {pair for row in banned if (pair := self._pair(legs, row)) is not None}
        ways = self._ways(corner, legs, rows)
        if not ways and banned:
            ways = [_Way(m, []) for m in movements_of(corner, legs, pairs)]
        ways = [way for way in ways if (way.movement.entry, way.movement.exit) not in pairs]
        if not ways:
            self.tables.remarks.add("nodes none of whose movements can be used", corner.id)
            return None
        self._refuse_many(corner, len(ways))
        return self._controlled(corner, legs, ways)

    def _refuse_many(self, corner: Corner, count: int) -> None:
        if count > MOST_AT_NODE:
            raise NetworkError(
                f"{self.tables.nodes[corner.id].where}: {count} movements; an intersection has at "
                f"most {MOST_AT_NODE} from lane to lane, drop some from movement.csv"
            )

    # --- movements --------------------------------------------------------------------------

    def _link_of(self, road: str) -> str:
        """The link of a road: its id, or that without the - of the way back."""
        return road if road in self.links else road[1:]

    def _pair(self, legs: list[Leg], row: MovementRow) -> tuple[int, int] | None:
        """The legs of a movement, None if one of its links is not drawn."""
        entry = exit_ = -1
        for i, leg in enumerate(legs):
            ahead, back = leg.street.roads or ("", "")
            into, out = (back, ahead) if leg.at_start else (ahead, back)
            if leg.lanes_in and self._link_of(into) == row.ib_link:
                entry = i
            if leg.lanes_out and self._link_of(out) == row.ob_link:
                exit_ = i
        return None if min(entry, exit_) < 0 else (entry, exit_)

    def _ways(self, corner: Corner, legs: list[Leg], rows: list[MovementRow]) -> list[_Way]:
        """The lane-to-lane movements of the rows."""
        placed = [(row, self._pair(legs, row)) for row in rows]
        wanted = {pair for _, pair in placed if pair is not None}
        n = len(legs)
        others = {(i, j) for i in range(n) for j in range(n) if (i, j) not in wanted}
        by_rule = movements_of(corner, legs, others)
        found: dict[tuple[int, int, int, int], _Way] = {}
        for row, pair in placed:
            if pair is None:
                self.tables.remarks.add("movements of links that are left out", row.id)
                continue
            entry, exit_ = pair
            turn = row.turn or ("U" if entry == exit_ else _turn(legs, entry, exit_))
            ruled = [m for m in by_rule if (m.entry, m.exit) == pair]
            for a, b in self._lane_pairs(legs, row, pair, turn, ruled):
                way = found.setdefault(
                    (entry, a, exit_, b), _Way(Movement(entry, exit_, turn, a, b), [])
                )
                way.rows.append(row)
        return [found[key] for key in sorted(found)]

    def _lane_pairs(
        self,
        legs: list[Leg],
        row: MovementRow,
        pair: tuple[int, int],
        turn: str,
        ruled: list[Movement],
    ) -> list[tuple[int, int]]:
        """Lanes of a movement by place from the kerb; those not given by rule."""
        entry, exit_ = legs[pair[0]], legs[pair[1]]
        if row.ib_lanes is None and row.ob_lanes is None and ruled:
            return [(m.from_lane, m.to_lane) for m in ruled]
        numbers = (
            entry.numbers_in or tuple(range(entry.lanes_in, 0, -1)),
            exit_.numbers_out or tuple(range(exit_.lanes_out, 0, -1)),
        )
        ins = self._places(row, row.ib_lanes, row.ib_link, numbers[0])
        outs = self._places(row, row.ob_lanes, row.ob_link, numbers[1])
        if ins is None:
            inner = len(numbers[0]) - 1
            ins = sorted({m.from_lane for m in ruled}, reverse=True) or [
                0 if turn == "R" else inner
            ]
        if outs is None:
            outs = list(range(len(numbers[1]) - 1, -1, -1))
            if len(ins) < len(outs):
                outs = outs[: len(ins)] if turn in "LU" else outs[-len(ins) :]
        return _spread(ins, outs)

    def _places(
        self, row: MovementRow, wanted: tuple[int, ...] | None, link: str, numbers: tuple[int, ...]
    ) -> list[int] | None:
        """Places from the kerb of lane numbers, from the inside; None: not given."""
        if wanted is None:
            return None
        remarks, lanes = self.tables.remarks, self.tables.lanes
        for n in wanted:
            if n in numbers:
                continue
            if n in lanes.others(link):
                remarks.add("movements of lanes that are not for road vehicles left out", row.id)
                continue
            remarks.find(
                "L06",
                f"movement {row.id!r}: lane {n} of link {link!r}, which has none of that number "
                "there; left out",
                [f"movement {row.id}", f"link {link}"],
            )
        return [numbers.index(n) for n in sorted(wanted) if n in numbers]

    # --- control ----------------------------------------------------------------------------

    def _controlled(self, corner: Corner, legs: list[Leg], ways: list[_Way]) -> Crossing:
        """Choose the control of a corner and of each of its movements."""
        movements = [way.movement for way in ways]
        told: list[str] = [way.rows[0].control if way.rows else "" for way in ways]
        if corner.control == "signals":
            told = [control or "signal" for control in told]
        if any(control in ON_SIGNAL for control in told):
            corner.control = "signals"
            return self._lit(corner, legs, ways, told)
        if corner.control == "signals" or (corner.control == "none" and set(told) - {"", "none"}):
            corner.control = "yield"
        if set(told) == {"all_way"}:
            corner.control = "all_way_stop"
        elif any(control in ("stop", "all_way") for control in told):
            corner.control = "two_way_stop"
        elif "yield" in told and corner.control not in ("two_way_stop", "all_way_stop"):
            corner.control = "yield"
        by_rule = not any(told)
        minor = minor_legs(corner, legs)
        rules = []
        for control, m in zip(told, movements, strict=True):
            stops = control in ("stop", "all_way") or corner.control == "all_way_stop"
            if by_rule and corner.control == "two_way_stop":
                stops = m.entry in minor
            rules.append(Rule(-1, stops, _priority(control, told)))
        return Crossing(movements, rules)

    def _lit(self, corner: Corner, legs: list[Leg], ways: list[_Way], told: list[str]) -> Crossing:
        """A corner with signals: by its timing plan, else by rule."""
        movements = [way.movement for way in ways]
        lit = [k for k, control in enumerate(told) if control in ON_SIGNAL]
        on_red = {k for k in lit if told[k] == "on_red" and movements[k].turn == "R"}
        ids = [{row.id for row in way.rows} for way in ways]
        names = sorted({name for k in lit for name in ids[k]})
        plans = {plan.id: plan for name in names for plan in self.plans_of.get(name, ())}
        known = given_program(
            corner, legs, movements, ids, lit, list(plans.values()), self.tables.remarks
        )
        if known is not None:
            signal, lit = known
        else:
            signal = program(corner, legs, [movements[k] for k in lit])
        link = {k: place for place, k in enumerate(lit)}
        turns_on_red = {link[k] for k in on_red if k in link}
        signal.phases = [
            (time, "".join("s" if c == "r" and i in turns_on_red else c
                           for i, c in enumerate(letters)))
            for time, letters in signal.phases
        ]  # fmt: skip
        rules = [Rule(link.get(k, -1), told[k] in ("stop", "all_way")) for k in range(len(ways))]
        places = [link.get(k, -1) for k in range(len(ways))]
        yields = yields_at_signals(legs, movements, places, signal)
        return Crossing(movements, rules, signal, yields)


def _turn(legs: list[Leg], entry: int, exit_: int) -> str:
    return dict(exits_of(legs, entry, "RTL"))[exit_]


def _priority(control: str, told: list[str]) -> int | None:
    if control == "yield":
        return LAST
    return FIRST if control == "none" and set(told) != {"none"} else None


def _spread(ins: list[int], outs: list[int]) -> list[tuple[int, int]]:
    """Lanes paired in order; where one side has more, its neighbours share a lane of the other."""
    most = max(len(ins), len(outs)) if ins and outs else 0
    return [(ins[k * len(ins) // most], outs[k * len(outs) // most]) for k in range(most)]
