#!/usr/bin/env python3
"""LBP histograms of 1080p frames in memory with NumPy.

usage: numpy_memory.py SECONDS      prints "ready", waits for a line, then prints frames a second
"""
import sys
import time

import numpy as np
from lbp_numpy import lbp_histogram

seconds = float(sys.argv[1])
frames = np.random.default_rng(1).integers(0, 256, (16, 1080, 1920), np.uint8)
lbp_histogram(frames[0])
print("ready", flush=True)
sys.stdin.readline()
start = time.perf_counter()
done = 0
while time.perf_counter() - start < seconds:
    lbp_histogram(frames[done % len(frames)])
    done += 1
print(done / (time.perf_counter() - start), flush=True)
