"""
Writes files with several pictures, and files with one, with tifffile and Pillow: make-stacks.py FOLDER. Prints JSON:
{"several": [files], "animated": [files], "pictures": [files], "one": [files]}.
"""
import json, sys
import numpy as np, tifffile
from PIL import Image

folder = sys.argv[1]
stack = np.random.default_rng(1).integers(0, 256, (3, 40, 50), np.uint8)
colours = np.kron(stack[..., None], np.ones((1, 8, 8, 3), np.uint8))
made = {'several': [], 'animated': [], 'pictures': [], 'one': []}


def path(kind, name):
    made[kind].append(f'{folder}/{name}')
    return made[kind][-1]


tifffile.imwrite(path('several', 'pages.tif'), stack, photometric='minisblack')
tifffile.imwrite(path('several', 'imagej.tif'), stack, imagej=True)
# As ImageJ writes stacks of more than 4 GiB: one page, and the number of images in its description.
tifffile.imwrite(path('several', 'large-imagej.tif'), stack[0], description='ImageJ=1.53t\nimages=3\nslices=3\n', metadata=None)
tifffile.imwrite(path('several', 'stack.ome.tif'), stack, photometric='minisblack', metadata={'axes': 'ZYX'})
with tifffile.TiffWriter(path('several', 'channels.ome.tif')) as tiff:
    tiff.write(colours[..., 0], tile=(64, 64), subifds=1, photometric='minisblack', metadata={'axes': 'CYX'})
    tiff.write(colours[:, ::2, ::2, 0], tile=(64, 64), subfiletype=1, photometric='minisblack')
with tifffile.TiffWriter(path('several', 'document.tif')) as tiff:
    for page in (stack[0], stack[1][:39]):
        tiff.write(page, photometric='minisblack', metadata=None)
frames = [Image.fromarray(one[:, :, 0]) for one in colours]
for name in ('moving.webp', 'moving.png'):
    frames[0].save(path('animated', name), save_all=True, append_images=frames[1:], lossless=True)

tifffile.imwrite(path('one', 'one.tif'), stack[0])
tifffile.imwrite(path('one', 'one-imagej.tif'), stack[0], imagej=True)
with tifffile.TiffWriter(path('one', 'thumbnail.tif')) as tiff:
    tiff.write(colours[0], rowsperstrip=16, photometric='rgb', metadata=None)
    tiff.write(colours[0][::4, ::4], rowsperstrip=16, photometric='rgb', metadata=None)
with tifffile.TiffWriter(path('one', 'slide.svs')) as tiff:
    tiff.write(colours[0], tile=(64, 64), photometric='rgb', metadata=None)
    tiff.write(colours[0][::4, ::4], rowsperstrip=16, photometric='rgb', metadata=None)
    tiff.write(colours[0][::2, ::2], tile=(64, 64), photometric='rgb', metadata=None)
    tiff.write(colours[0][:90, :50], rowsperstrip=16, photometric='rgb', metadata=None)
frames[0].save(path('pictures', 'stereo.mpo'), save_all=True, append_images=frames[1:2])
for name in ('still.webp', 'still.png', 'still.jpg'):
    frames[0].save(path('one', name), lossless=True)
print(json.dumps(made))
