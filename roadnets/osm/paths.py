"""Paths of links through intersections, and which roads restrictions let one drive in turn.

A restriction over a road that lies between intersections bans that road's exit for those who came
from a certain road. Where all come from there the movement is taken away; else it stays, and the
sequence of roads is banned (roadnets.banned). Source: networks.md 4.4.
"""

from collections.abc import Iterator
from itertools import pairwise, product

from rushhour.roadnets.osm.links import Road, Streets, node_at, way_at
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.places import direction
from rushhour.roadnets.osm.restrictions import Bans

Path = tuple[Road, ...]
Follow = dict[Road, list[tuple[Road, float]]]  # what may follow each road, with the turn's angle


class Paths:
    """What may be driven after what, link by link."""

    def __init__(
        self, streets: Streets, merged: Merged, bans: Bans, ends: dict[int, list[tuple[int, bool]]]
    ) -> None:
        self.streets = streets
        self.merged = merged
        self.bans = bans
        self.ends = ends
        self.memory = bans.memory
        # What most paths have nothing to do with: nodes with a ban, last roads of banned sequences.
        self.ruled = {node for _, node, _ in bans.no} | {node for _, node in bans.only}
        self.banned = {roads[-1] for roads in bans.sequences}
        self.buses = {  # within intersections
            (i, forward)
            for i in merged.inner
            for forward in (True, False)
            if (way := direction(streets.links[i], forward)).lanes and not way.cars
        }

    def _after(self, path: Path, buses: bool = False) -> Iterator[Road]:
        """Links that may be driven after those of a path, without the turn back.

        buses: also links within intersections that are for buses alone.
        """
        links, bans = self.streets.links, self.bans
        index, forward = path[-1]
        node = node_at(links[index], not forward)
        ruled = node in self.ruled
        for onward in self.ends[node]:
            other, start = onward
            if other == index:
                continue
            rules = links[other].rules
            if not (rules.forward if start else rules.backward).lanes:
                continue
            if not buses and onward in self.buses:
                continue
            if ruled and bans.forbids(
                way_at(links[index], not forward), node, way_at(links[other], start)
            ):
                continue
            if onward not in self.banned or not bans.ends_banned((*path, onward)):
                yield onward

    def exits(self, road: Road) -> dict[Road, bool]:
        """Roads that can follow a road, through the inner links of its intersection.

        Each with whether one comes to it by a link road, which is there to turn, even back. Inner links
        for buses alone lead only from and to roads for buses alone.
        """
        found = self._exits(road, False)
        for onward, by_link in self._exits(road, True).items() if self.buses else ():
            if not all(direction(self.streets.links[i], ahead).cars for i, ahead in (road, onward)):
                found.setdefault(onward, by_link)
        return found

    def _exits(self, road: Road, buses: bool) -> dict[Road, bool]:
        memory = self.memory
        found: dict[Road, bool] = {}
        seen: set[Path] = {(road,)}
        open_paths: list[Path] = [(road,)]
        while open_paths:
            path = open_paths.pop()
            index = path[-1][0]
            link = self.streets.links[index]
            for onward in self._after(path, buses):
                after = (*path, onward)[-memory:]
                if onward == road or after in seen:
                    continue
                seen.add(after)
                if onward[0] in self.merged.inner:
                    open_paths.append(after)
                elif onward[0] != road[0]:
                    by_link = index != road[0] and link.rules.highway.endswith("_link")
                    found[onward] = found.get(onward, False) or by_link
        return found

    def can_drive(self, roads: Path) -> bool:
        """Whether a path over these roads in turn, and inner links between them, is open."""
        paths = {roads[:1]}
        for road in roads[1:]:
            paths = self._paths_on(paths, road)
        return bool(paths)

    def _paths_on(self, paths: set[Path], road: Road) -> set[Path]:
        """The paths that go on to a road, as far back as matters; each ends on a road."""
        memory = self.memory
        back = (road[0], not road[1])
        found = {
            (*path, road)[-memory:]
            for path in paths
            if path[-1] == back and not self.bans.ends_banned((*path, road))
        }
        seen = set(paths)
        open_paths = list(paths)
        while open_paths:
            path = open_paths.pop()
            for onward in self._after(path):
                after = (*path, onward)[-memory:]
                if onward == road:
                    found.add(after)
                elif onward[0] in self.merged.inner and after not in seen:
                    seen.add(after)
                    open_paths.append(after)
        return found

    def _entries(self, follow: Follow) -> dict[Road, set[Road]]:
        """Roads from which each road is entered."""
        before: dict[Road, set[Road]] = {}
        for road, after in follow.items():
            for following, _ in after:
                before.setdefault(following, set()).add(road)
        return before

    def ban_behind(self, follow: Follow) -> set[Road]:
        """Turn restrictions over roads that have one entry each into bans at the end of the last.

        Returns the roads with fewer exits.
        """
        before, inner = self._entries(follow), self.merged.inner
        changed: set[Road] = set()
        for path, relation in list(self.bans.sequences.items()):
            outer = [road for road in path[:-1] if road[0] not in inner]
            if len(outer) < 2 or outer[0] != path[0]:
                continue
            if all(before.get(b) == {a} for a, b in pairwise(outer)):
                self.bans.sequences[path[path.index(outer[-1]) :]] = relation
                changed.add(outer[-1])
        return changed

    def banned_roads(self, follow: Follow) -> list[Path]:
        """Sequences of roads that can be driven turn by turn, but not by any path in turn."""
        before, inner = self._entries(follow), self.merged.inner
        ahead = {road: {other for other, _ in after} for road, after in follow.items()}
        found: set[Path] = set()
        for path in self.bans.sequences:
            between = tuple(road for road in path[1:-1] if road[0] not in inner)
            if not between:
                continue  # within one intersection
            first = before.get(between[0], set()) if path[0][0] in inner else {path[0]}
            last = ahead.get(between[-1], set()) if path[-1][0] in inner else {path[-1]}
            for a, b in product(first, last):
                roads = (a, *between, b)
                turns = all(y in ahead.get(x, ()) for x, y in pairwise(roads))
                if turns and not self.can_drive(roads):
                    found.add(roads)
        return sorted(found)
