"""What a world is told before it begins: parameters, quotas, own models, each checked where it comes in."""
