"""
Writes files with several pictures, and files with one, with tifffile and Pillow: make-stacks.py FOLDER. Prints JSON:
{"several": [files], "stack": [files], "animated": [files], "still": [files], "pictures": [files], "band": [files],
"one": [files], "pages": [[file, number of the page, file of its red, green and blue planes]]}.
"""
import json, sys
import numpy as np, tifffile
from PIL import Image

folder = sys.argv[1]
stack = np.random.default_rng(1).integers(0, 256, (3, 40, 50), np.uint8)
colours = np.kron(stack[..., None], np.ones((1, 8, 8, 3), np.uint8))
made = {'several': [], 'stack': [], 'animated': [], 'still': [], 'pictures': [], 'band': [], 'one': [], 'pages': []}


def path(kind, name):
    made[kind].append(f'{folder}/{name}')
    return made[kind][-1]


tifffile.imwrite(path('several', 'pages.tif'), stack, photometric='minisblack')
tifffile.imwrite(path('several', 'imagej.tif'), stack, imagej=True)
# As ImageJ writes stacks of more than 4 GiB: one page, and the number of images in its description.
tifffile.imwrite(path('stack', 'large-imagej.tif'), stack[0], description='ImageJ=1.53t\nimages=3\nslices=3\n', metadata=None)
tifffile.imwrite(path('several', 'stack.ome.tif'), stack, photometric='minisblack', metadata={'axes': 'ZYX'})
with tifffile.TiffWriter(path('several', 'channels.ome.tif')) as tiff:
    tiff.write(colours[..., 0], tile=(64, 64), subifds=1, photometric='minisblack', metadata={'axes': 'CYX'})
    tiff.write(colours[:, ::2, ::2, 0], tile=(64, 64), subfiletype=1, photometric='minisblack')
with tifffile.TiffWriter(path('several', 'document.tif')) as tiff:
    for page in (stack[0], stack[1][:39]):
        tiff.write(page, photometric='minisblack', metadata=None)
frames = [Image.fromarray(one[:, :, 0]) for one in colours]
# The last frame differs from the one before in a small part, which is all that a GIF has of it.
corner = frames[1].copy()
corner.paste(0, (8, 16, 40, 48))
for kind, name in (('animated', 'moving.webp'), ('still', 'moving.png'), ('gif', 'moving.gif')):
    at = path(kind, name) if kind in made else f'{folder}/{name}'
    frames[0].save(at, save_all=True, append_images=[*frames[1:], corner], lossless=True)

four = np.concatenate([colours[0], colours[1][..., :1]], axis=2)
tifffile.imwrite(path('band', 'infrared.tif'), four, photometric='rgb', extrasamples=['unspecified'])
tifffile.imwrite(path('one', 'alpha.tif'), four, photometric='rgb', extrasamples=['unassalpha'])
tifffile.imwrite(path('one', 'premultiplied.tif'), four, photometric='rgb', extrasamples=['assocalpha'])
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


def read(name, number, pixels):
    planes = f'{folder}/{name}-{number}.planes'
    np.ascontiguousarray(np.moveaxis(pixels, 2, 0)).tofile(planes)
    made['pages'].append([f'{folder}/{name}', number, planes])


for name in ('pages.tif', 'imagej.tif', 'stack.ome.tif', 'channels.ome.tif', 'document.tif', 'one.tif'):
    with tifffile.TiffFile(f'{folder}/{name}') as tiff:
        for number, page in enumerate(tiff.pages, 1):
            read(name, number, np.repeat(page.asarray()[..., None], 3, 2))
for name in ('moving.gif', 'moving.webp', 'still.webp'):
    with Image.open(f'{folder}/{name}') as image:
        for number in range(1, getattr(image, 'n_frames', 1) + 1):
            image.seek(number - 1)
            read(name, number, np.asarray(image.convert('RGB')))
print(json.dumps(made))
