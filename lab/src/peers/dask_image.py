#!/usr/bin/env python3
"""The LBP histogram of one image with Dask's map_overlap over scikit-image's local_binary_pattern.

usage: dask_image.py IMAGE RESULT CHUNK THREADS
RESULT gets 256 counts as 64-bit integers; stdout a line of JSON with the seconds from opening the image to RESULT.
"""
import json
import sys
import time

import dask.array
import numpy as np
from image_files import open_image
from skimage.feature import local_binary_pattern


def codes_of(block):
    return local_binary_pattern(block, P=8, R=1, method="default").astype(np.uint8)


def counts_of(block):
    return np.bincount(block.ravel(), minlength=256)[np.newaxis, np.newaxis]


path, result, chunk, threads = sys.argv[1:]
start = time.perf_counter()
image = dask.array.from_array(open_image(path), chunks=int(chunk))
# No boundary: scikit-image itself takes zeros around the image, so the result is that of the uncut image.
codes = dask.array.map_overlap(codes_of, image, depth=1, boundary="none", dtype=np.uint8)
# Counted block by block: over all pixels as one array, dask.array.bincount and histogram take four times as long in
# all.
counts = codes.map_blocks(counts_of, chunks=(1, 1, 256), new_axis=2, dtype=np.int64).sum(axis=(0, 1))
# Threads, because scikit-image computes without the interpreter's lock.
counts.compute(scheduler="threads", num_workers=int(threads)).astype(np.int64).tofile(result)
print(json.dumps({"seconds": time.perf_counter() - start}))
