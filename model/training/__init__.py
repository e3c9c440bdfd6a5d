"""How the built-in model is made: spoken data, the codec, and the measurements that judge it.

`python -m model.training data|codec|check`. Nothing here is imported by the server; it needs the
extra `train` and the synthesisers espeak-ng and flite.
"""
