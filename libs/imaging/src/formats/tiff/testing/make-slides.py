"""
Writes slides with tifffile and libvips, and what OpenSlide reads of each level: make-slides.py FOLDER. Prints a JSON
list of {"file", "levels": [[width, height, file of RGB bytes], ...]}.
"""
import ctypes, json, subprocess, sys
import numpy as np, tifffile

folder = sys.argv[1]
noise = np.random.default_rng(1).integers(0, 256, (67, 90, 3), np.uint8)
picture = np.kron(noise, np.ones((9, 9, 1), np.uint8))[:600, :801]
half = [picture[::step, ::step] for step in (1, 2, 4)]


def path(name):
    return f'{folder}/{name}'


def aperio(name):
    with tifffile.TiffWriter(path(name)) as tiff:
        common = dict(photometric='rgb', metadata=None, software=False)
        described = 'Aperio Image Library v12\r\n801x600 [0,0 801x600] (256x256)|AppMag = 20|MPP = 0.2525'
        for i, level in enumerate(half):
            tiff.write(level, tile=(256, 256), description=described, compression='deflate', **common)
            # Aperio's thumbnail comes second: it has the shape of the slide, in strips.
            if i == 0:
                tiff.write(picture[::8, ::8], rowsperstrip=16, description='Aperio thumbnail', **common)
        tiff.write(picture[:60, :50], rowsperstrip=16, description='Aperio\r\nlabel 50x60', subfiletype=1, **common)
        tiff.write(picture[:60, :200], rowsperstrip=16, description='Aperio\r\nmacro 200x60', subfiletype=9, **common)


aperio('aperio.svs')
tifffile.imwrite(path('flat.tif'), picture, photometric='rgb')
subprocess.run(['vips', 'tiffsave', path('flat.tif'), path('vips.tif'), '--tile', '--pyramid', '--tile-width=128',
                '--tile-height=128', '--compression=lzw', '--resunit=cm', '--xres=100', '--yres=100'], check=True)
with tifffile.TiffWriter(path('plain.ome.tif')) as tiff:
    about = {'axes': 'YXS', 'PhysicalSizeX': 500, 'PhysicalSizeXUnit': 'nm'}
    tiff.write(half[0], tile=(256, 256), subifds=2, photometric='rgb', metadata=about)
    for level in half[1:]:
        tiff.write(level, tile=(256, 256), subfiletype=1, photometric='rgb')

openslide = ctypes.CDLL('libopenslide.so.0')
openslide.openslide_open.restype = ctypes.c_void_p


def levels_of(name):
    """What OpenSlide, or for a file with SubIFDs tifffile, reads of each level."""
    if name.endswith('.ome.tif'):
        with tifffile.TiffFile(path(name)) as tiff:
            return [level.asarray() for level in tiff.series[0].levels]
    slide = ctypes.c_void_p(openslide.openslide_open(path(name).encode()))
    found = []
    for level in range(openslide.openslide_get_level_count(slide)):
        width, height = ctypes.c_int64(), ctypes.c_int64()
        openslide.openslide_get_level_dimensions(slide, level, ctypes.byref(width), ctypes.byref(height))
        pixels = np.zeros((height.value, width.value, 4), np.uint8)
        at = [ctypes.c_int64(0), ctypes.c_int64(0), ctypes.c_int32(level), width, height]
        openslide.openslide_read_region(slide, pixels.ctypes.data_as(ctypes.c_void_p), *at)
        assert (pixels[..., 3] == 255).all()
        found.append(pixels[..., 2::-1])
    openslide.openslide_close(slide)
    return found


made = []
for name in ['aperio.svs', 'vips.tif', 'plain.ome.tif']:
    levels = levels_of(name)
    for i, level in enumerate(levels):
        np.ascontiguousarray(level).tofile(path(f'{name}-{i}'))
    made.append({'file': path(name), 'levels': [[x.shape[1], x.shape[0], path(f'{name}-{i}')] for i, x in enumerate(levels)]})
print(json.dumps(made))
