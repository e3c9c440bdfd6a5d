"""What a CPU computes in a step, as kernels of our own: few, large, each compiled once for the machine.

A kernel works on addresses and plain numbers. Refuses to know the model: what it is told of weights are
sheets, rows of integers that say where things lie and how many there are.
"""
