"""Drafts: what is known of a network before it is finished, and the steps of finishing it."""
