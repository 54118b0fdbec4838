#!/usr/bin/env python3
"""The LBP histogram of one image with NumPy in one process, bands of rows at a time.

usage: numpy_image.py IMAGE RESULT
RESULT gets 256 counts as 64-bit integers; stdout a line of JSON with the seconds from opening the image to RESULT.
"""
import json
import sys
import time

import numpy as np
from image_files import open_image
from lbp_numpy import lbp_histogram

BAND = 128

path, result = sys.argv[1:]
start = time.perf_counter()
image = open_image(path)
counts = np.zeros(256, np.int64)
for top in range(0, image.shape[0] - 2, BAND):
    counts += lbp_histogram(image[top : top + BAND + 2])
counts.tofile(result)
print(json.dumps({"seconds": time.perf_counter() - start}))
