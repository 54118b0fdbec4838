"""
Writes slides that only OpenSlide reads, by its description of their formats, and what it reads of each level in one
call: make-slides.py FOLDER. Prints a JSON list of {"file", "levels": [[width, height, file of RGBA bytes], ...]}; the
bytes are premultiplied.
"""
import ctypes, io, json, os, struct, subprocess, sys
import numpy as np, tifffile
from PIL import Image

folder = sys.argv[1]
noise = np.random.default_rng(1).integers(0, 256, (80, 110, 3), np.uint8)
picture = np.kron(noise, np.ones((10, 10, 1), np.uint8))


def jpeg(pixels):
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(out, 'JPEG', quality=90)
    return out.getvalue()


def mirax(name, across=6, down=4, side=80, zooms=2):
    """Images of one camera position each, the last of them missing; smaller levels hold 2 x 2 images in one."""
    os.makedirs(f'{folder}/{name}')
    data, records = b'', []
    for zoom in range(zooms):
        step, entries = 2**zoom, []
        for y in range(0, down, step):
            for x in range(0, across, step):
                if zoom == 0 and (x, y) == (across - 1, down - 1):
                    continue
                part = picture[y * side:(y + step) * side, x * side:(x + step) * side]
                image = jpeg(part[::step, ::step])
                entries.append((y * across + x, len(data), len(image), 0))
                data += image
        records.append(entries)
    head = b'01.02' + b'0' * 32
    start = len(head) + 8
    pages_at, pages, places = start + 4 * zooms, b'', []
    for entries in records:
        places.append(pages_at + len(pages))
        page_at = places[-1] + 8
        pages += struct.pack('<ii', 0, page_at) + struct.pack('<ii', len(entries), 0)
        pages += b''.join(struct.pack('<iiii', *entry) for entry in entries)
    index = head + struct.pack('<ii', start, 0) + struct.pack(f'<{zooms}i', *places) + pages
    sections = ''.join(f'HIER_0_VAL_{i} = Zoom{i}\nHIER_0_VAL_{i}_SECTION = ZOOM_{i}\n' for i in range(zooms))
    text = (f'[GENERAL]\nSLIDE_VERSION = 01.02\nSLIDE_ID = {"0" * 32}\nIMAGENUMBER_X = {across}\nIMAGENUMBER_Y = {down}\n'
            f'OBJECTIVE_MAGNIFICATION = 20\n[HIERARCHICAL]\nHIER_COUNT = 1\nNONHIER_COUNT = 0\nINDEXFILE = Index.dat\n'
            f'HIER_0_NAME = Slide zoom level\nHIER_0_COUNT = {zooms}\n{sections}[DATAFILE]\nFILE_COUNT = 1\nFILE_0 = Data0000.dat\n')
    for i in range(zooms):
        text += (f'[ZOOM_{i}]\nOVERLAP_X = 0\nOVERLAP_Y = 0\nMICROMETER_PER_PIXEL_X = {0.25 * 2**i}\n'
                 f'MICROMETER_PER_PIXEL_Y = {0.25 * 2**i}\nIMAGE_FORMAT = JPEG\nIMAGE_FILL_COLOR_BGR = {0x3264c8}\n'
                 f'IMAGE_CONCAT_FACTOR = {0 if i == 0 else 1}\nDIGITIZER_WIDTH = {side}\nDIGITIZER_HEIGHT = {side}\n')
    for file, content in (('Slidedat.ini', text.encode()), ('Index.dat', index), ('Data0000.dat', data)):
        with open(f'{folder}/{name}/{file}', 'wb') as out:
            out.write(content)
    with open(f'{folder}/{name}.mrxs', 'wb') as out:
        out.write(jpeg(picture[:16, :16]))


def aperio(name, largest):
    """By these names OpenSlide reads it, which tells formats by content."""
    with tifffile.TiffWriter(f'{folder}/{name}') as tiff:
        for level in (largest, largest[::2, ::2], largest[::4, ::4]):
            tiff.write(level, tile=(256, 256), description='Aperio Image Library v12|MPP = 0.25', compression='deflate',
                       photometric='rgb', metadata=None, software=False)


def hamamatsu(name):
    """A VMS of one JPEG with restart markers, and its map."""
    for file, pixels in (('part.jpg', picture[:640, :960]), ('map.jpg', picture[:640:4, :960:4])):
        Image.fromarray(np.ascontiguousarray(pixels)).save(f'{folder}/{file}.ppm')
        subprocess.run(['vips', 'jpegsave', f'{folder}/{file}.ppm', f'{folder}/{file}', '--Q=90', '--subsample-mode=off',
                        '--restart-interval=6'], check=True)
    with open(f'{folder}/{name}', 'w') as out:
        out.write('[Virtual Microscope Specimen]\nNoLayers=1\nNoJpegColumns=1\nNoJpegRows=1\nImageFile=part.jpg\n'
                  'MapFile=map.jpg\nMacroImage=map.jpg\nSourceLens=20\nPhysicalWidth=960\nPhysicalHeight=640\n')


mirax('mirax')
aperio('aperio.scn', picture)
aperio('odd.bif', picture[:599, :801])
hamamatsu('hamamatsu.vms')

openslide = ctypes.CDLL('libopenslide.so.0')
openslide.openslide_open.restype = ctypes.c_void_p
openslide.openslide_get_error.restype = ctypes.c_char_p
openslide.openslide_get_error.argtypes = [ctypes.c_void_p]
made = []
for name in ('mirax.mrxs', 'aperio.scn', 'hamamatsu.vms', 'odd.bif'):
    slide = ctypes.c_void_p(openslide.openslide_open(f'{folder}/{name}'.encode()))
    error = openslide.openslide_get_error(slide) if slide else b'unknown'
    if error:
        sys.exit(f'{name}: {error.decode()}')
    levels = []
    for level in range(openslide.openslide_get_level_count(slide)):
        width, height = ctypes.c_int64(), ctypes.c_int64()
        openslide.openslide_get_level_dimensions(slide, level, ctypes.byref(width), ctypes.byref(height))
        bgra = np.zeros((height.value, width.value, 4), np.uint8)
        at = [ctypes.c_int64(0), ctypes.c_int64(0), ctypes.c_int32(level), width, height]
        openslide.openslide_read_region(slide, bgra.ctypes.data_as(ctypes.c_void_p), *at)
        np.ascontiguousarray(bgra[..., [2, 1, 0, 3]]).tofile(f'{folder}/{name}-{level}')
        levels.append([width.value, height.value, f'{folder}/{name}-{level}'])
    openslide.openslide_close(slide)
    made.append({'file': f'{folder}/{name}', 'levels': levels})
print(json.dumps(made))
