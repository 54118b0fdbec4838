# Makes Zarr arrays of format 2 by zarr-python in the folder of the first argument. Prints a line of JSON a plane: the
# metadata file of its array, its indices, and a file with what zarr-python reads there, in this machine's byte order.
import json
import os
import sys

import numpy as np
import zarr
from numcodecs import LZ4, Blosc, GZip, Zlib, Zstd

root = sys.argv[1]
blosc = {
    f"blosc-{name}-{shuffle}": Blosc(cname=name, clevel=5, shuffle=shuffle)
    for name in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
    for shuffle in [Blosc.NOSHUFFLE, Blosc.SHUFFLE, Blosc.BITSHUFFLE]
}
compressors = {"none": None, "zstd": Zstd(3), "gzip": GZip(6), "zlib": Zlib(9), "lz4": LZ4(), **blosc}
cases = [(f"{name}{dtype[1:]}", [70, 131], [33, 50], dtype, "C", ".", codec) for name, codec in compressors.items() for dtype in ["|u1", "<u2"]]
cases += [
    ("big-endian", [70, 131], [33, 50], ">u2", "C", ".", Zstd(1)),
    ("columns", [70, 131], [33, 50], "<u2", "F", "/", Blosc()),
    ("one-chunk", [70, 131], [70, 131], "|u1", "C", ".", None),
    ("larger-chunk", [7, 13], [64, 64], "|u1", "C", ".", GZip(1)),
    ("of-five-axes", [2, 3, 4, 20, 30], [1, 2, 3, 16, 16], "<u2", "C", "/", Zlib(1)),
    ("of-columns", [3, 4, 20, 30], [2, 4, 7, 30], ">u2", "F", ".", Zstd(1)),
]
for name, shape, chunks, dtype, order, separator, compressor in cases:
    path = os.path.join(root, name + ".zarr")
    array = zarr.open(
        path, mode="w", shape=shape, chunks=chunks, dtype=dtype, order=order, compressor=compressor,
        fill_value=7, dimension_separator=separator,
    )
    most = 256 if dtype.endswith("1") else 65536
    # Some rows are the same, so that codecs have something to find, and some chunks are not written.
    noise = np.random.default_rng(len(name)).integers(0, most, shape)
    noise[..., ::3, :] = 40
    array[..., : max(1, shape[-2] // 2), :] = noise[..., : max(1, shape[-2] // 2), :]
    array[..., -3:] = noise[..., -3:]
    values = zarr.open(path, mode="r")[:]
    for index in np.ndindex(*shape[:-2]):
        expected = f"{path}.{'-'.join(map(str, index))}.raw"
        values[index].astype(values.dtype.newbyteorder("=")).tofile(expected)
        print(json.dumps({"file": os.path.join(path, ".zarray"), "indices": index, "expected": expected}))
