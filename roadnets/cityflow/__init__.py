"""CityFlow networks: from a roadnet.json to a draft."""
