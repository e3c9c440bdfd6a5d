"""The metrics: each file measures one family, from a talk to metrics and events."""
