"""One who asks for a grant, with the answers to all that is asked about it, for tables of cases."""

from collections.abc import Callable
from typing import Any

import pytest
from junction_cases import AT_LINE, DT, FRAME, LENGTH, Asked

from rushhour.kernels.core.network import OFF
from rushhour.kernels.core.vehicles import (
    FREE,
)
from rushhour.kernels.junctions import right_of_way

I, J, K = 0, 1, 2  # who asks, and others; no id is a slot
ALL_FREE: dict[str, Any] = {
    "is_waited_for": False, "reaction_of": 0.0, "chain_with_room": 1, "waits_for_first": False,
    "worst_light": 0, "turns_across": False, "shows_green": True, "has_lost_green": False,
    "is_late": False, "who_stands_on_way": -1, "ring_carries": True, "nobody_between": True,
    "wish": None, "bars_way": False, "crossed_beside": -1, "waiter_ahead": -1, "impatience": 0.7,
    "pressed_share": 0.6, "margin_of": 1.5, "further_chain": 0, "blocker_of": (FREE, -1),
    "may_wait_inside": False, "who_starves": -1, "my_turn": True, "nobody_inside": True,
    "count_overtaken": None,
}  # fmt: skip
Answer = Callable[..., Any]


class Grant:
    """One who asks at the line of a crossing, with the answers to all that is asked about it."""

    def __init__(self, control: str) -> None:
        self.j = Asked(control)
        self.veh, self.grants = self.j.veh, self.j.grants
        self.k = self.j.way("ST")
        self.asked: dict[str, list[tuple[Any, ...]]] = {}

    def ask(
        self, monkeypatch: pytest.MonkeyPatch, patient: bool = True, line: int = 0,
        rules: dict[str, Any] | None = None, light: int = OFF, **told: Any,
    ) -> tuple[int, int, int]:  # fmt: skip
        """What comes of it, the reason noted and who bars. told: other answers, and fields."""
        j, veh = self.j, self.veh
        fields = {name: value for name, value in told.items() if name not in ALL_FREE}
        self.asked = {name: [] for name in ALL_FREE}
        j.net = j.network.arrays
        j.put(I, "ST", **{"length": LENGTH, "refused": 99, "overtaken": 3, **fields})
        veh.s[I] = j.net.lanes.length[veh.lane[I]] - AT_LINE
        ways = [j.way("WT")] * line + [self.k, j.way("NT"), j.way("ET")]
        veh.path[I, : len(ways)] = ways
        veh.line[I], veh.blocker[I], veh.go[I] = line, -1, -1
        veh.id[:3] = [100, 101, 102]
        self.grants.light[:], self.grants.waived[:] = light, -1
        self.grants.ring_entry[:] = False
        for name, answer in ALL_FREE.items():
            monkeypatch.setattr(right_of_way, name, self.answering(name, told.get(name, answer)))
        return self.again(patient, rules or {})

    def again(
        self, patient: bool = True, rules: dict[str, Any] | None = None
    ) -> tuple[int, int, int]:
        """The same asked with what has been changed since."""
        j = self.j
        what = right_of_way.try_grant(
            j.net, j.veh, j.types, j.sim.order, j.grants, j.rules._replace(**(rules or {})), j.x,
            j.first, 4, I, patient, FRAME, DT, 1,
        )  # fmt: skip
        return what, int(self.veh.refused[I]), int(self.veh.blocker[I])

    def answering(self, name: str, answer: Any) -> Answer:
        def question(*args: Any) -> Any:
            self.asked[name].append(args)
            return answer(*args) if callable(answer) else answer

        return question
