"""What can be reached in a directed graph, and its strong components: sets that all reach each other."""

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def strong_components(follow: dict[Node, list[Node]]) -> Iterator[list[Node]]:
    """Every set of nodes that can all reach each other (Tarjan 1972, without recursion).

    follow: for each node those that follow it, all of them keys too.

    >>> sorted(map(sorted, strong_components({1: [2], 2: [1, 3], 3: []})))
    [[1, 2], [3]]
    """
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    for first, after in follow.items():
        if first in number:
            continue
        work = [(first, iter(after))]
        number[first] = low[first] = len(number)
        stack.append(first)
        on_stack.add(first)
        while work:
            node, rest = work[-1]
            for following in rest:
                if following not in number:
                    number[following] = low[following] = len(number)
                    stack.append(following)
                    on_stack.add(following)
                    work.append((following, iter(follow[following])))
                    break
                if following in on_stack:
                    low[node] = min(low[node], number[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    yield component


def reached(starts: Iterable[Node], follow: dict[Node, list[Node]]) -> set[Node]:
    """Nodes that can be reached from some, these included."""
    seen = set(starts)
    open_nodes = list(seen)
    while open_nodes:
        for following in follow[open_nodes.pop()]:
            if following not in seen:
                seen.add(following)
                open_nodes.append(following)
    return seen
