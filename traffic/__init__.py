"""Traffic: demand, the world that steps it, recording.

`world.World` is put together from the state and the frame (sim) and parts that change or read them. Into it
go demand, routing's ways, settings and commands; out of it come measures and a recording. scenarios join a
network and its demand; sumo reads what SUMO's files say of all these. The checker stands beside the world.
"""
