"""
Writes slides as Aperio does with tiles of JPEG 2000 in YCbCr (33003), by opj_compress and tifffile, and what OpenSlide
reads of them: make-ycbcr.py FOLDER. Prints JSON: [[file, file of its red, green and blue planes]].
"""
import ctypes, json, subprocess, sys
import numpy as np, tifffile

folder = sys.argv[1]
width, height, side = 150, 140, 128
random = np.random.default_rng(5)


def encoded(across, down, options):
    """A tile of noise, which has all values of chroma."""
    sizes = [(side, side)] + 2 * [(side // down, side // across)]
    with open(f'{folder}/tile.raw', 'wb') as file:
        for size in sizes:
            file.write(random.integers(0, 256, size, np.uint8).tobytes())
    form = f'{side},{side},3,8,u@1x1:{across}x{down}:{across}x{down}'
    command = ['opj_compress', '-i', f'{folder}/tile.raw', '-o', f'{folder}/tile.j2k', '-F', form, '-mct', '0', *options]
    subprocess.run(command, check=True, capture_output=True)
    with open(f'{folder}/tile.j2k', 'rb') as file:
        return file.read()


openslide = ctypes.CDLL('libopenslide.so.0')
openslide.openslide_open.restype = ctypes.c_void_p


def read(path):
    slide = ctypes.c_void_p(openslide.openslide_open(path.encode()))
    pixels = np.zeros((height, width, 4), np.uint8)
    at = [ctypes.c_int64(0), ctypes.c_int64(0), ctypes.c_int32(0), ctypes.c_int64(width), ctypes.c_int64(height)]
    openslide.openslide_read_region(slide, pixels.ctypes.data_as(ctypes.c_void_p), *at)
    openslide.openslide_close(slide)
    assert (pixels[..., 3] == 255).all()
    return pixels[..., 2::-1]


made = []
for name, across, down, photometric, options in [
    ('half', 2, 1, 'rgb', []),
    ('quarter', 2, 2, 'ycbcr', []),
    ('full', 1, 1, 'rgb', []),
    ('lossy', 2, 1, 'rgb', ['-I', '-r', '4']),
]:
    path = f'{folder}/{name}.svs'
    tiles = [encoded(across, down, options) for _ in range(4)]
    with tifffile.TiffWriter(path) as tiff:
        common = dict(shape=(height, width, 3), dtype='u1', tile=(side, side), metadata=None)
        tiff.write(iter(tiles), compression='deflate', photometric='rgb', description='Aperio Image Library v12', **common)
    # tifffile does not write such tiles, but takes them for others.
    with tifffile.TiffFile(path, mode='r+b') as tiff:
        tiff.pages[0].tags[259].overwrite(33003)
        if photometric == 'ycbcr':
            tiff.pages[0].tags[262].overwrite(6)
    np.ascontiguousarray(np.moveaxis(read(path), 2, 0)).tofile(f'{path}.planes')
    made.append([path, f'{path}.planes'])
print(json.dumps(made))
