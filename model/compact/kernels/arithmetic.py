"""Functions of one number in float32, made of additions, products and bits, so that they go by eights.

A number that is none stays none. Refuses to know where the numbers come from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.compact.kernels.compiler import helper, intrinsic, ir, types

_f = np.float32
_LEAST, _MOST = _f(-87.33654), _f(88.37626)
_PER_LN2, _LN2_HIGH, _LN2_LOW = _f(1.44269504), _f(0.693359375), _f(-2.12194440e-4)
_E0, _E1, _E2 = _f(1.9875691500e-4), _f(1.3981999507e-3), _f(8.3334519073e-3)
_E3, _E4, _E5 = _f(4.1665795894e-2), _f(1.6666665459e-1), _f(5.0000001201e-1)
_ONE, _HALF, _ROOT_HALF, _FAR = _f(1.0), _f(0.5), _f(0.70710678), _f(4.0)
_A1, _A3, _A5, _A7 = _f(-1.60960333e-2), _f(-2.95459981e-3), _f(-7.34990630e-4), _f(-5.69250639e-5)
_A9, _A11, _A13 = _f(-2.10102402e-6), _f(2.77068142e-8), _f(-2.72614226e-10)
_B0, _B2, _B4 = _f(-1.42647391e-2), _f(-7.37332917e-3), _f(-1.68282697e-3)
_B6, _B8 = _f(-2.13374055e-4), _f(-1.45660718e-5)


@intrinsic
def _float_of_bits(typing: Any, bits: Any) -> Any:
    del typing, bits

    def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        del context, signature
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), make


@helper
def exp(x: Any) -> Any:
    """e^x to about one unit in the last place (Cephes, expf.c), of an x no less than -87.3 and no more than
    88.4: beyond it is as there, never 0 and never infinite.
    """
    x = _MOST if x > _MOST else x
    x = _LEAST if x < _LEAST else x
    n = np.floor(x * _PER_LN2 + _HALF)
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    p = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _E5
    return (p * r * r + r + _ONE) * _float_of_bits(np.int32((np.int32(n) + np.int32(127)) << np.int32(23)))


@helper
def _erf(x: Any) -> Any:
    """A quotient of polynomials (Eigen, generic_fast_erf_float); 1 beyond 4."""
    x = _FAR if x > _FAR else x
    x = -_FAR if x < -_FAR else x
    s = x * x
    above = (((((_A13 * s + _A11) * s + _A9) * s + _A7) * s + _A5) * s + _A3) * s + _A1
    below = (((_B8 * s + _B6) * s + _B4) * s + _B2) * s + _B0
    return x * above / below


@helper
def silu(x: Any) -> Any:
    return x / (_ONE + exp(-x))


@helper
def gelu(x: Any) -> Any:
    """By erf, not by tanh."""
    return _HALF * x * (_ONE + _erf(x * _ROOT_HALF))


@helper
def elu(x: Any) -> Any:
    """With alpha 1."""
    return x if x > _f(0.0) else exp(x) - _ONE
