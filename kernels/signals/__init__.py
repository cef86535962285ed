"""What lights show: by the clock, by detectors, by queues, as told. Who may enter at them is in `junctions`."""
