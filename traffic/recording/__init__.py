"""The run file: a run recorded, and read again."""
