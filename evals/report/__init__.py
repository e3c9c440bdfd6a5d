"""The report: one HTML file and a few plots, made from what `score` has written."""
