"""A signal learns by itself (Q-learning): python examples/rl_signal.py"""

import numpy as np

import rushhour as rh
from rushhour.rl import SignalEnv

NETWORK = rh.generate("cross", lanes=1, length=200.0, control="signals")
WAYS = [("E-X", "X-W", 90), ("W-X", "X-E", 90), ("N-X", "X-S", 20), ("S-X", "X-N", 20)]
ROWS = [(600.0 * k / n, a, b) for a, b, n in WAYS for k in range(n)]
TRIPS = rh.read_trips(dict(zip(("depart", "origin", "destination"), zip(*ROWS))), NETWORK)
DRAW = np.random.default_rng(1)


def place(seen):  # shares of the lanes from S, E, N, W that stand, and which green shows
    south, east, north, west = np.minimum(3, np.ceil(10 * seen[:4])).astype(int)
    return max(east, west), max(south, north), int(seen[5])


def episode(env, q, seed, learns=False):
    (seen, info), over, queues = env.reset(seed=seed), False, []
    while not over:
        state = place(seen)
        action = None if q is None else int(q[state].argmax())  # None: as its own program says
        action = int(DRAW.integers(2)) if learns and DRAW.random() < 0.1 else action
        seen, reward, ended, late, info = env.step(action)
        if learns:
            q[state][action] += 0.2 * (reward + 0.9 * q[place(seen)].max() - q[state][action])
        over, queues = ended or late, [*queues, info["queue"]]
    return np.mean(queues)


if __name__ == "__main__":
    env = SignalEnv(NETWORK, TRIPS, seconds=600, observation=("queue", "phase"))
    q = np.zeros((4, 4, 2, 2))
    for seed in range(20):
        episode(env, q, seed, learns=True)
    for name, table in {"clock": None, "learnt": q}.items():
        print(f"{name}: {episode(env, table, seed=1000):.2f} cars stand on average")
