"""Prints the result of halogrid.load for each line [path, pipeline] of stdin, as a line of JSON."""

import json
import sys

import halogrid


def plain(values):
    values = getattr(values, "tolist", lambda: values)()
    return [None if value != value else value for value in values]


def milliseconds(times):
    if hasattr(times, "astype"):
        least = -(2**63)
        return [None if ms == least else ms for ms in times.astype("int64").tolist()]
    return [None if time is None else round(time.timestamp() * 1000) for time in times]


for line in sys.stdin:
    try:
        features = halogrid.load(*json.loads(line))
    except halogrid.Error as error:
        print(json.dumps({"error": str(error), "code": error.code}))
        continue
    rows = {
        "source": features.sources,
        "name": features.names,
        "frame": plain(features.frames),
        "timestamp_ms": plain(features.timestamps_ms),
        "captured_at": milliseconds(features.times),
        "camera": features.cameras,
        "cell": plain(features.cells),
        "counted": plain(features.counted),
        "histogram": plain(features.matrix),
        "statistics": {name: plain(values) for name, values in features.statistics.items()},
    }
    told = {"channels": features.channels, "bins": features.bins, "shape": list(features.matrix.shape)}
    print(json.dumps({"rows": rows, **told, "numpy": "numpy" in sys.modules}))
