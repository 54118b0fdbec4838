#!/usr/bin/env python3
"""LBP histograms of a folder of frames: a pool of processes, OpenCV decodes, scikit-image or NumPy computes.

usage: frame_pool.py skimage|numpy FOLDER RESULT PROCESSES
RESULT gets 256 counts a frame as 64-bit integers, in the order of the names; stdout a line of JSON with the seconds from
listing the folder to RESULT.
"""
import json
import multiprocessing
import os
import sys
import time

import cv2
import numpy as np


def numpy_histogram(path):
    return lbp_histogram(cv2.imread(path, cv2.IMREAD_GRAYSCALE))


def skimage_histogram(path):
    codes = local_binary_pattern(cv2.imread(path, cv2.IMREAD_GRAYSCALE), P=8, R=1, method="default")
    return np.bincount(codes.ravel().astype(np.intp), minlength=256)


if __name__ == "__main__":
    library, folder, result, processes = sys.argv[1:]
    if library == "skimage":
        from skimage.feature import local_binary_pattern
    else:
        from lbp_numpy import lbp_histogram
    # A thread a process: more would fight over the cores.
    cv2.setNumThreads(1)
    with multiprocessing.get_context("fork").Pool(int(processes)) as pool:
        start = time.perf_counter()
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        histogram = skimage_histogram if library == "skimage" else numpy_histogram
        np.array(pool.map(histogram, paths, chunksize=4), np.int64).tofile(result)
        print(json.dumps({"seconds": time.perf_counter() - start}))
