"""One world on several processes that pass messages: ranks. Each steps a part of it, and what is near."""
