"""Makes a scene of four bands with NoData as a GeoTIFF, and each of its bands as a gray GeoTIFF.

make_scene.py FOLDER PIXELS: a square of that many pixels a side; tiles of 512 x 512, Deflate, interleaved by pixel as
GDAL does by default. A frame of a sixteenth of the side is NoData (0), as around a satellite's scene.
"""
import os
import sys

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
folder, side = sys.argv[1], int(sys.argv[2])
options = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "COMPRESS=DEFLATE", "NUM_THREADS=ALL_CPUS", "BIGTIFF=IF_SAFER"]
driver = gdal.GetDriverByName("GTiff")
os.makedirs(os.path.join(folder, "gray"))


def create(path, bands):
    file = driver.Create(path, side, side, bands, gdal.GDT_Byte, options + ([] if bands == 1 else ["PHOTOMETRIC=MINISBLACK"]))
    file.SetGeoTransform((500000, 10, 0, 5300000, 0, -10))
    for band in range(1, bands + 1):
        file.GetRasterBand(band).SetNoDataValue(0)
    return file


scene = create(os.path.join(folder, "scene.tif"), 4)
grays = [create(os.path.join(folder, "gray", f"band-{band}.tif"), 1) for band in range(1, 5)]
random = np.random.default_rng(1)
# Smooth ground with some noise, which Deflate halves at most.
ground = np.kron(random.integers(40, 200, (70, 70)), np.ones((16, 16)))[:1024, :1024]
frame = side // 16
columns = np.arange(side)
for top in range(0, side, 512):
    rows = np.arange(top, min(top + 512, side))
    shape = (len(rows), side)
    inside = (np.minimum(rows, side - 1 - rows) >= frame)[:, None] & (np.minimum(columns, side - 1 - columns) >= frame)
    for band in range(4):
        noise = random.integers(0, 8, (512, 4096))
        values = ground[np.ix_((rows + 311 * band) % 1024, columns % 1024)] + np.tile(noise, (1, side // 4096 + 1))[: shape[0], :side]
        strip = np.where(inside, values, 0).astype(np.uint8)
        scene.GetRasterBand(band + 1).WriteArray(strip, 0, top)
        grays[band].GetRasterBand(1).WriteArray(strip, 0, top)
