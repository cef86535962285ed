"""Demand: who departs when, from where to where; from files, matrices, tables or chance."""
