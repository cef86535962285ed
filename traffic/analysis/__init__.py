"""What recorded runs tell: why somebody waits, which queues there were, how runs differ."""
