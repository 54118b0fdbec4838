import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Rect } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { parquetOf } from '@halogrid/sources/testing-parquet-files';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { askPython, pythonFails, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { openImage } from '../open-image.ts';
import { decodeWhole, noGaps, planes } from '../testing/images.ts';
import { filesIn } from './files-beside.ts';
import { bandsOf } from './open-slide.ts';
import { loadOpenSlide } from './process/openslide.ts';
import { overBackground, readBackground } from './process/over-background.ts';
import { blockPx } from './process/read-blocks.ts';
import type { SlideReader } from './slide-reader.ts';
import { endReaders, readSlide } from './slide-readers.ts';

// Worth its seconds: slides of three formats, made by one call, are compared with what OpenSlide gives a Python
// program; the processes around the library are real, because what they survive is tested.

interface Made {
  file: string;
  levels: [width: number, height: number, expected: string][];
}

const lacksVips = spawnSync('vips', ['--version']).status !== 0 && 'libvips is not installed (libvips-tools)';
const skip = lacksVips || pythonFails("import tifffile, PIL, ctypes; ctypes.CDLL('libopenslide.so.0')");

let folder: string;
let made: Made[];
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'halogrid-slides-'));
  const program = fileURLToPath(new URL('testing/make-slides.py', import.meta.url));
  made = skip ? [] : JSON.parse(askPython(program, [folder]));
});
after(async () => {
  await endReaders();
  rmSync(folder, { recursive: true, force: true });
});

const uriOf = (file: string): string => pathToFileURL(join(folder, file)).href;

/** Planes of premultiplied RGBA over a colour, in fractions. */
function expectedPlanes(file: string, background: readonly number[]): Uint8Array {
  const rgba = readFileSync(file);
  const count = rgba.length / 4;
  return Uint8Array.from({ length: 3 * count }, (_, i) => {
    const [channel, at] = [Math.floor(i / count), 4 * (i % count)];
    return Math.min(255, rgba[at + channel]! + Math.round((background[channel]! * (255 - rgba[at + 3]!)) / 255));
  });
}

test('each level has the pixels that OpenSlide reads, over the background of the slide', { skip }, async () => {
  for (const { file, levels } of made.slice(0, 3)) {
    // The fill colour of the MIRAX slide, whose last image is missing.
    const background = file.endsWith('.mrxs') ? [0xc8, 0x64, 0x32] : [255, 255, 255];
    for (const [number, [width, height, expected]] of levels.entries()) {
      const read = await decodeWhole(pathToFileURL(file).href, 'rgb', { level: { number } });
      assert.equal(read.length, 3 * width * height);
      assert.ok(Buffer.from(expectedPlanes(expected, background)).equals(read), `level ${number} of ${file}`);
    }
  }
  const whole = await decodeWhole(uriOf('mirax.mrxs'), 'rgb');
  assert.deepEqual(
    [0, 1, 2].map((plane) => whole[plane * 480 * 320 + 480 * 320 - 1]),
    [0xc8, 0x64, 0x32],
  );
});

test('a slide says who decoded it, and levels are found by micrometres', { skip }, async () => {
  const widthAt = async (microns: number): Promise<number> => {
    const image = await openImage(uriOf('mirax.mrxs'), { level: { microns } });
    await image.close();
    return image.width;
  };
  assert.deepEqual([await widthAt(0.25), await widthAt(0.5)], [480, 240]);
  const image = await openImage(uriOf('aperio.scn'));
  assert.match(image.mended!, /^decoded by OpenSlide \d+\.\d+\.\d+; other versions may give other pixels$/);
  assert.match(image.version!, / slide [\da-f]{16} \d+\.\d+\.\d+$/);
  assert.deepEqual([image.format, image.pixel, image.readsRegions], ['slide', 'u8', true]);
});

test('pixels do not depend on the regions that are read, also of levels that OpenSlide interpolates', {
  skip,
}, async () => {
  const level = { number: 1 };
  const whole = await decodeWhole(uriOf('odd.bif'), 'gray', { level });
  const image = await openImage(uriOf('odd.bif'), { level });
  const side = (from: number, to: number): fc.Arbitrary<{ at: number; length: number }> =>
    fc
      .tuple(fc.integer({ min: from, max: to - 1 }), fc.integer({ min: 1, max: to - from }))
      .map(([at, length]) => ({ at, length: Math.min(length, to - at) }));
  const region = fc
    .tuple(side(0, image.width), side(0, image.height))
    .map(([x, y]): Rect => ({ x: x.at, y: y.at, width: x.length, height: y.length }));
  const property = fc.asyncProperty(region, async ({ x, y, width, height }) => {
    const target = planes(width, height, 'gray', noGaps);
    await image.decode({ x, y, width, height }, target);
    for (let row = 0; row < height; row++) {
      const start = (y + row) * image.width + x;
      assert.deepEqual(target.bytes.subarray(row * width, (row + 1) * width), whole.subarray(start, start + width));
    }
  });
  await fc.assert(property, { numRuns: 20 });
});

test('what is wrong with a slide is said in a sentence', { skip }, async (t) => {
  const refused = async (uri: string, message: RegExp, options = {}): Promise<void> => {
    await assert.rejects(openImage(uri, options), { name: 'InputError', message });
  };
  writeFileSync(join(folder, 'text.svslide'), 'text');
  await refused(uriOf('text.svslide'), /^OpenSlide 3\S+ does not know the file as a slide$/);
  cpSync(join(folder, 'mirax.mrxs'), join(folder, 'alone.mrxs'));
  await refused(uriOf('alone.mrxs'), /^The folder 'alone' with the pixels of the slide is not beside it$/);
  const vms = readFileSync(join(folder, 'hamamatsu.vms'), 'utf8');
  writeFileSync(join(folder, 'outside.scn'), vms.replace('MapFile=map.jpg', 'MapFile = ../map.jpg'));
  await refused(uriOf('outside.scn'), /^The slide names a file that does not lie with its others: '\.\.\/map\.jpg'$/);
  await refused(uriOf('mirax.mrxs'), /^The slide has the levels 0 \(480x320\), 1 \(240x160\) but the job asks for 2$/, {
    level: { number: 2 },
  });
  await refused(
    uriOf('mirax.mrxs'),
    /^A pixel of the slide is 0\.25 micrometres wide but the job asks for at most 0\.1$/,
    {
      level: { microns: 0.1 },
    },
  );
  await refused(uriOf('mirax.mrxs'), /^The job reads a band \(--band\), which only TIFF and JPEG 2000 have/, {
    band: { numbers: [1] },
  });
  renameSync(join(folder, 'mirax', 'Data0000.dat'), join(folder, 'mirax', 'away'));
  t.after(() => renameSync(join(folder, 'mirax', 'away'), join(folder, 'mirax', 'Data0000.dat')));
  await refused(uriOf('mirax.mrxs'), /^OpenSlide 3\S+ cannot read the slide: .*Data0000\.dat/);
});

test('damaged slides give pixels or a sentence', { skip }, async () => {
  const files = ['Index.dat', 'Data0000.dat', 'Slidedat.ini'];
  cpSync(join(folder, 'mirax'), join(folder, 'mutant'), { recursive: true });
  cpSync(join(folder, 'mirax.mrxs'), join(folder, 'mutant.mrxs'));
  const mutant = fc.record({ file: fc.constantFrom(...files), at: fc.nat(), value: fc.nat(255), isCut: fc.boolean() });
  const property = fc.asyncProperty(mutant, async ({ file, at, value, isCut }) => {
    const bytes = readFileSync(join(folder, 'mirax', file));
    bytes[at % bytes.length] = value;
    writeFileSync(join(folder, 'mutant', file), isCut ? bytes.subarray(0, at % bytes.length) : bytes);
    try {
      await decodeWhole(uriOf('mutant.mrxs'));
    } catch (error) {
      assert.ok(error instanceof InputError, String(error));
    } finally {
      cpSync(join(folder, 'mirax', file), join(folder, 'mutant', file));
    }
  });
  await fc.assert(property, { numRuns: repeated(6, 60) });
});

test('a crash takes only its own decoding, and a second one over the same slide quarantines it', { skip }, async () => {
  const crash = async (reader: SlideReader): Promise<never> => {
    process.kill(reader.pid!, 'SIGSEGV');
    await reader.order({ kind: 'version' });
    throw new Error('The process has survived');
  };
  const [crashed, sound] = await Promise.allSettled([readSlide('bad', crash), decodeWhole(uriOf('aperio.scn'))]);
  assert.equal(sound.status, 'fulfilled');
  assert.ok(crashed.status === 'rejected' && crashed.reason instanceof InputError);
  assert.equal(crashed.reason.message, 'OpenSlide broke down over the slide (SIGSEGV)');
  let tries = 0;
  const once = (reader: SlideReader): Promise<unknown> => (tries++ === 0 ? crash(reader) : Promise.resolve('read'));
  assert.equal(await readSlide('bad once', once), 'read');
  // Ended by the machine: the slide is not at fault.
  const ended = readSlide('unlucky', async (reader) => {
    process.kill(reader.pid!, 'SIGKILL');
    await reader.order({ kind: 'version' });
  });
  await assert.rejects(ended, { name: 'Error', message: 'The reader of slides was ended by SIGKILL' });
});

test('slides on servers, in tars and in Parquet files are refused with what helps, before OpenSlide is looked for', async (t) => {
  const uri = await temporaryFile(t, 'a.tar', Buffer.alloc(1024, 'x'));
  await assert.rejects(openImage(`${uri}#/a@512+100.scn`), {
    name: 'InputError',
    message:
      /^OpenSlide reads slides on disks, not in tars: copy it to a folder that nodes see, with the files beside it$/,
  });
  const rows = await temporaryFile(t, 'a.parquet', parquetOf([{ bytes: Buffer.from('slide'), path: 'a.scn' }]));
  await assert.rejects(openImage(`${rows}#image.bytes/a@0.scn`), {
    name: 'InputError',
    message: /^OpenSlide reads slides on disks, not in Parquet files: copy it to a folder/,
  });
  const server = await startServer((request, response) => {
    sendFile({ bytes: Buffer.from('slide'), etag: '"x"' }, request, response);
  });
  t.after(() => server.close());
  await assert.rejects(openImage(`${server.origin}/a.scn`), {
    name: 'MissingDecoderError',
    message: /^OpenSlide reads slides on disks, not from servers: copy it to a folder/,
  });
});

test('a missing library is named with the command that installs it', () => {
  assert.throws(() => loadOpenSlide(['libnothing.so.7']), {
    name: 'MissingDecoderError',
    message: /^Slides cannot be read here: OpenSlide is not installed; 'apt install libopenslide0' .* adds it$/,
  });
});

test('a colour over the background is that of fractions, rounded', () => {
  const share = fc.integer({ min: 0, max: 255 });
  const property = fc.property(share, share, share, share, share, (red, green, blue, alpha, background) => {
    const [r, g, b] = [red, green, blue].map((c) => Math.min(c, alpha)) as [number, number, number];
    const rgb = new Uint8Array(4);
    const argb = Uint32Array.of(((alpha << 24) | (r << 16) | (g << 8) | b) >>> 0);
    overBackground(argb, background * 0x10101, rgb, 1);
    const over = (c: number): number => Math.min(255, c + Math.round((background * (255 - alpha)) / 255));
    assert.deepEqual([...rgb], [0, over(r), over(g), over(b)]);
  });
  fc.assert(property);
  assert.deepEqual(
    [readBackground(null), readBackground('C86432'), readBackground('nothing')],
    [0xffffff, 0xc86432, 0xffffff],
  );
});

test('bands of a region follow one another and end with rows of blocks', () => {
  const size = fc.integer({ min: 1, max: 100_000 });
  fc.assert(
    fc.property(size, size, size, size, (x, y, width, height) => {
      let at = y;
      for (const band of bandsOf({ x, y, width, height })) {
        assert.deepEqual([band.x, band.y, band.width], [x, at, width]);
        at += band.height;
        assert.ok(at === y + height || at % blockPx === 0);
      }
      assert.equal(at, y + height);
    }),
  );
});

test('files that a slide names are found whatever the spaces', () => {
  const text = '[A]\nImageFile(1,0) = a.jpg \nMapFile=b.jpg\n FILE_12=c.dat\nINDEXFILE = d\nOther=e/f\nImageFile=\n';
  assert.deepEqual(filesIn(text), ['a.jpg', 'b.jpg', 'c.dat', 'd']);
});

// The last test, because what is missing is remembered.
test('a missing OpenSlide is looked for once for many slides', async () => {
  const error = new MissingDecoderError('slide', 'Slides cannot be read here');
  await assert.rejects(
    readSlide('a', () => Promise.reject(error)),
    error,
  );
  await assert.rejects(
    readSlide('b', () => assert.fail('It was looked for again')),
    error,
  );
});
