"""halogrid from Python: run jobs, speak to a coordinator, and load what came out.

>>> import halogrid
>>> job = halogrid.run("photos", op="lbp:labels=uniform", out="results")
>>> features = halogrid.load("results")
>>> features.matrix.shape
"""

from .errors import Error
from .features import Features
from .loading import load

__version__ = "0.1.0"
__all__ = ["Error", "Features", "load"]
