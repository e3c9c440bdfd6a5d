"""The compact runtime: our own step over a Moshi checkpoint's weights, for the ready rows only.

Parity with `model.reference` is its law. Refuses to know sessions, threads and checkpoints' files.
"""
