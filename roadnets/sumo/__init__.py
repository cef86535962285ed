"""SUMO networks: from a .net.xml file to a draft."""
