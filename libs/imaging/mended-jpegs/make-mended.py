#!/usr/bin/env python3
"""Makes the JPEGs in this folder from JPEGs of ../fixtures, by adding bytes that hold no pixel, as cameras do;
and expected.json: what djpeg decodes them to.

usage: make-mended.py      (Debian 12: apt-get install libjpeg-turbo-progs)

expected.json: {name: {width, height, sha256, rgbSha256}}, as in ../fixtures. djpeg warns of each file, and gives the
pixels of the file without the added bytes, which is checked. It refuses a second start marker: for that file, the pixels
of the file without the marker are expected.
"""
import hashlib, json, pathlib, random, re, subprocess

here = pathlib.Path(__file__).parent
expected = {}
markers = re.compile(rb'\xff[\xd0-\xd7]')


def segment(marker, content, says=None):
    """`says`: the length that the segment states, if that is not its real one."""
    return bytes([255, marker]) + (2 + len(content) if says is None else says).to_bytes(2, 'big') + content


def decoded(data, mode):
    """Width, height and samples; None if djpeg refuses."""
    found = subprocess.run(['djpeg', mode, '-pnm'], input=data, capture_output=True)
    if found.returncode not in (0, 2):
        return None
    head, size, _, samples = found.stdout.split(b'\n', 3)
    width, height = map(int, size.split())
    if head == b'P6':
        samples = b''.join(samples[plane::3] for plane in range(3))
    elif mode == '-rgb':
        samples *= 3
    return width, height, samples


def keep(name, data, clean, refused=False):
    (here / name).write_bytes(data)
    gray, rgb = (decoded(clean, mode) for mode in ('-grayscale', '-rgb'))
    for mode, pixels in (('-grayscale', gray), ('-rgb', rgb)):
        assert decoded(data, mode) == (None if refused else pixels), (name, mode)
    width, height, luma = gray
    sha256, colours = (hashlib.sha256(samples).hexdigest() for samples in (luma, rgb[2]))
    expected[name] = {'width': width, 'height': height, 'sha256': sha256, 'rgbSha256': colours}


def before_tables(clean, added):
    at = clean.index(b'\xff\xdb')
    return clean[:at] + added + clean[at:]


def before_restarts(clean):
    """1 to 5 bytes with any value except FF."""
    numbers = random.Random(270)
    return markers.sub(lambda found: bytes(numbers.choices(range(255), k=numbers.randint(1, 5))) + found[0], clean)


def drop(clean, marker):
    """The file without the segments of `marker`. Without Huffman tables, the standard's apply, as in frames of MJPEG."""
    kept, at = clean[:2], 2
    while clean[at + 1] != 0xda:
        end = at + 2 + int.from_bytes(clean[at + 2 : at + 4], 'big')
        if clean[at + 1] != marker:
            kept += clean[at:end]
        at = end
    return kept + clean[at:]


whole, restart, gray, progressive = ((here.parent / 'fixtures' / f'{name}.jpg').read_bytes() for name in ('420', 'restart', 'gray', 'progressive'))


def in_three_scans(clean):
    script = here / 'scans.txt'
    script.write_text('0;1;2;')
    try:
        return subprocess.run(['jpegtran', '-scans', script], input=clean, capture_output=True, check=True).stdout
    finally:
        script.unlink()


scans = in_three_scans(whole)
second = scans.index(b'\xff\xda', scans.index(b'\xff\xda') + 2)
text = b'Whatever a buffer had in it before, as often as that takes. ' * 10

keep('comment-longer.jpg', before_tables(whole, segment(0xfe, b'\0' * 700, 92)), whole)
keep('comment-shorter.jpg', before_tables(whole, segment(0xfe, b'short', 40) + segment(0xe5, b'next' * 20)), whole)
keep('application-longer.jpg', before_tables(gray, segment(0xe4, b'\xff\0 and more' * 9, 20)), gray)
keep('before-restarts.jpg', before_restarts(restart), restart)
keep('before-restarts-mjpeg.jpg', before_restarts(drop(restart, 0xc4)), restart)
keep('zeros-behind.jpg', whole[:-2] + bytes(600) + whole[-2:], whole)
keep('text-behind.jpg', restart[:-2] + text + restart[-2:], restart)
keep('zeros-behind-progressive.jpg', progressive[:-2] + bytes(200) + progressive[-2:], progressive)
keep('all.jpg', before_tables(before_restarts(restart)[:-2] + text, segment(0xfe, b'longer' * 9, 10)) + restart[-2:], restart)
keep('between-scans.jpg', scans[:second] + b'a scan has ended' + scans[second:-2] + bytes(100) + scans[-2:], scans)
keep('two-starts.jpg', whole[:2] + whole, whole, refused=True)

(here / 'expected.json').write_text(json.dumps(expected, indent=2) + '\n')
