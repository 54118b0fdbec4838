"""halogrid from Python: run jobs, speak to a coordinator, and load the results.

import halogrid

features = halogrid.run("photos", op="lbp:labels=uniform", out="results").load()
features.matrix.shape
"""

from .client import Client, connect
from .errors import Error
from .features import Features
from .job import File, Job
from .loading import load
from .program import Run, run

__version__ = "0.1.0"
__all__ = ["Client", "Error", "Features", "File", "Job", "Run", "connect", "load", "run"]
