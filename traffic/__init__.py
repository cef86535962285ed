"""Traffic: demand, the world that steps it, recording.

`world.World` owns the arrays (`state`) and steps them. Into it go demand, routing's ways,
`parameters` and commands; out of it come measures and a recording. scenarios join a network and
its demand; sumo reads what SUMO's files say of all these.
"""
