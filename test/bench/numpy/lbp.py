#!/usr/bin/env python3
"""LBP histograms of 1080p frames in memory with NumPy, as people write it: whole arrays at a time.

usage: lbp.py SECONDS      prints "ready", waits for a line, then prints frames a second
"""
import sys
import time

import numpy as np

RING = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]  # NW, clockwise: bits 7 ... 0


def lbp_histogram(frame):
    height, width = frame.shape[0] - 2, frame.shape[1] - 2
    centre = frame[1:-1, 1:-1]
    code = np.zeros(centre.shape, np.uint8)
    for i, (y, x) in enumerate(RING):
        code |= (frame[y : y + height, x : x + width] >= centre).view(np.uint8) << (7 - i)
    return np.bincount(code.ravel(), minlength=256)


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
