"""One page of HTML that plays a run in any browser: what is in it, and how it is packed."""
