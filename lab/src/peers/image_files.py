"""The pixels of an 8-bit gray image on disk, by the way that costs least."""
import numpy as np


def open_image(path):
    """A binary PGM or an uncompressed TIFF of one strip is mapped, another TIFF is read whole."""
    if path.endswith(".pgm"):
        with open(path, "rb") as file:
            magic, size, largest = file.readline(), file.readline(), file.readline()
            if magic != b"P5\n" or largest != b"255\n":
                raise ValueError(f"Expected an 8-bit binary PGM without comments but '{path}' is none")
            width, height = map(int, size.split())
            return np.memmap(path, np.uint8, "r", offset=file.tell(), shape=(height, width))
    import tifffile

    return tifffile.imread(path)
