"""Steps of the runtimes, one against the other: the same answers first, then the time they take."""
