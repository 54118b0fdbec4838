# What many people write: a pool of processes that read recordings with OpenCV and count their LBP codes with NumPy. The
# argument is JSON. Prints the number of frames and their seconds, without the start of the processes.
import json
import multiprocessing
import os
import sys
import time

os.environ["OPENCV_FFMPEG_THREADS"] = "1"
import cv2
import numpy

# Neighbours from the upper left, clockwise; the first one is the highest bit.
NEIGHBOURS = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]


def histogram(gray):
    height, width = gray.shape
    padded = numpy.pad(gray, 1)
    codes = numpy.zeros((height, width), numpy.uint8)
    for bit, (y, x) in enumerate(NEIGHBOURS):
        codes |= (padded[y : y + height, x : x + width] >= gray).astype(numpy.uint8) << (7 - bit)
    return numpy.bincount(codes.ravel(), minlength=256)


def count(path):
    capture = cv2.VideoCapture(path)
    total = numpy.zeros(256, numpy.int64)
    frames = 0
    while True:
        is_there, frame = capture.read()
        if not is_there:
            return frames, total.tolist()
        total += histogram(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))
        frames += 1


def begin(_):
    cv2.setNumThreads(1)
    time.sleep(0.05)


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    with multiprocessing.Pool(asked["processes"]) as pool:
        pool.map(begin, range(asked["processes"]), 1)
        started = time.perf_counter()
        found = pool.map(count, asked["paths"], 1)
        seconds = time.perf_counter() - started
    print(json.dumps({"frames": sum(frames for frames, _ in found), "seconds": seconds}))
