"""Road networks: the model, readers, generators and checks.

A reader (osm, sumo, cityflow, gmns), a generator or a drawing by_hand makes a draft (drafts; of
streets and corners, by plans), `build.finish` makes a `model.Network` of it, lint looks it over,
storage keeps it. `loading` opens a network of any format; `importing` mends and reports, too.
"""
