#!/usr/bin/env python3
"""Prints the gray values of TIFFs as GDAL reads them. For each line of stdin, a path, it prints a line of JSON:
{width, height, bits, pixels: base64 of 16-bit little-endian numbers}, or {none: why} if GDAL gives an error or a
warning. Needs GDAL's Python and numpy."""
import base64, json, sys
import numpy as np
from osgeo import gdal

said = []
gdal.UseExceptions()
gdal.PushErrorHandler(lambda level, number, text: said.append(text))


def gray_of(path):
    image = gdal.Open(path)
    band = image.GetRasterBand(1)
    first = band.ReadAsArray()
    structure = {**image.GetMetadata('IMAGE_STRUCTURE'), **band.GetMetadata('IMAGE_STRUCTURE')}
    if first.dtype not in (np.uint8, np.uint16):
        return {'none': str(first.dtype)}
    kind = band.GetColorInterpretation()
    bits = int(structure.get('NBITS', first.dtype.itemsize * 8))
    scale = 255 // ((1 << bits) - 1) if bits < 8 else 1
    if kind == gdal.GCI_PaletteIndex:
        return {'none': 'a palette'}
    if kind == gdal.GCI_RedBand:
        r, g, b = ((image.GetRasterBand(i).ReadAsArray() * scale).astype(np.uint32) for i in (1, 2, 3))
        gray = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
    else:
        gray = first.astype(np.uint32) * scale
        if structure.get('MINISWHITE') == 'YES':
            gray = (255 if bits <= 8 else 65535) - gray
    deep = bits > 8
    pixels = base64.b64encode(gray.astype('<u2' if deep else np.uint8).tobytes()).decode()
    return {'width': image.RasterXSize, 'height': image.RasterYSize, 'bits': 16 if deep else 8, 'pixels': pixels}


for line in sys.stdin:
    said.clear()
    try:
        answer = gray_of(line.rstrip('\n'))
        if said:
            answer = {'none': said[0]}
    except Exception as error:
        answer = {'none': str(error)}
    print(json.dumps(answer), flush=True)
