"""GMNS networks: from a folder of tables to a draft."""
