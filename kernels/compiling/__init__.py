"""How kernels are made: the decorator, the state handed over as addresses, code kept in files. No traffic."""
