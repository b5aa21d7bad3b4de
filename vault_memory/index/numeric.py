"""numpy with one BLAS thread: the arrays here are small, and several threads made a search five times slower.

Every module of the index imports numpy from here. The setting is read when numpy loads; a host program that loaded it
before, or that sets OPENBLAS_NUM_THREADS itself, keeps its own.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

__all__ = ["Floats", "Ints", "NDArray", "np"]
