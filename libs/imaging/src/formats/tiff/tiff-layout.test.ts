import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import type { ReadOptions } from '../../planes/read-options.ts';
import { type TiffStorage, tiffLayout } from './tiff-layout.ts';

/** Values of each tag that are read. */
const read = {
  planarConfiguration: [1, 2],
  photometric: [0, 1, 2, 3, 6],
  bits: [1, 2, 4, 8, 16],
  sampleFormat: [1, 4],
  samplesPerPixel: [0, 1, 2, 3, 4, 7],
  subsampling: ['1x1', '1x2', '2x1', '2x2', '4x1', '4x2', '4x4'],
  predictor: [1, 2],
  compression: [1, 2, 3, 4, 5, 7, 8, 32773, 32946, 34887, 50000, 50001],
  fillOrder: [1, 2],
};
type Name = keyof typeof read;

/** Some values of every kind that are not read. */
const refused: Partial<Record<Name, unknown[]>> = {
  planarConfiguration: [0],
  photometric: [undefined, 4, 5, 8, 32803, 32844],
  bits: [3, 12, 14, 32, 64],
  sampleFormat: [2, 3, 6],
  subsampling: ['0x0', '2x4'],
  predictor: [0, 3],
  compression: [6, 9, 32771, 34676, 34925, 50002, 65000],
  fillOrder: [0],
};

/**
 * Every eleventh combination is tried, and all with HALOGRID_THOROUGH=1. No tag has 11 values that are read, so that
 * each is tried with each of another tag. All sentences come up, too.
 */
const step = isThorough ? 1 : 11;

/**
 * Calls `act` with combinations of values that are read, and with each of these and one value that is not read; always
 * with the same object.
 */
function forStorages(act: (storage: TiffStorage) => void): void {
  const storage: Record<string, unknown> = { isDng: false };
  const names = Object.keys(read) as Name[];
  const fieldOf: Partial<Record<Name, string>> = { bits: 'bitsPerSample' };
  const tagOf = (name: Name, value: unknown): unknown => {
    if (name === 'subsampling') return String(value).split('x').map(Number);
    return name === 'bits' || name === 'sampleFormat' ? [value] : value;
  };
  const fields = names.map((name) => ({
    field: fieldOf[name] ?? name,
    good: read[name].map((value) => tagOf(name, value)),
    bad: (refused[name] ?? []).map((value) => tagOf(name, value)),
  }));
  let combination = 0;
  const fill = (at: number, isBad: boolean): void => {
    if (at === fields.length) {
      if (combination++ % step === 0) act(storage as unknown as TiffStorage);
      return;
    }
    const { field, good, bad } = fields[at]!;
    for (storage[field] of good) fill(at + 1, isBad);
    if (!isBad) for (storage[field] of bad) fill(at + 1, true);
  };
  fill(0, false);
}

test('any combination of tags has a way of reading, or a sentence that says why not', (t) => {
  const sentences = new Set<string>();
  let all = 0;
  let layouts = 0;
  forStorages((storage) => {
    all++;
    const layout = tiffLayout(storage);
    if (typeof layout === 'string') {
      sentences.add(layout);
      return;
    }
    layouts++;
    const values = { ...storage, bits: storage.bitsPerSample[0]!, sampleFormat: storage.sampleFormat[0]! };
    for (const name of [
      'planarConfiguration',
      'photometric',
      'bits',
      'sampleFormat',
      'compression',
      'fillOrder',
    ] as const)
      if (!(read[name] as unknown[]).includes(values[name])) assert.fail(`${name} of ${JSON.stringify(storage)}`);
    // A block holds all samples of a pixel, or one sample. In the second case, as many planes are read as there are
    // colours.
    const isSeparate = storage.planarConfiguration === 2 && storage.samplesPerPixel > 1;
    const colours = storage.photometric === 2 || storage.photometric === 6 ? 3 : 1;
    assert.equal(layout.samples, isSeparate ? 1 : storage.samplesPerPixel);
    assert.equal(layout.planes, isSeparate ? colours : 1);
    assert.equal(layout.pixel, values.bits === 16 ? 'u16' : 'u8');
    assert.equal(layout.isInverted, storage.photometric === 0);
  });
  t.diagnostic(`${all} combinations, ${layouts} of them read, ${sentences.size} sentences`);
  assert.ok(layouts > 5_000 && sentences.size > 100);
  for (const sentence of sentences) assert.match(sentence, /^[A-Z\d][^\n]{20,}[^\s.:]$/);
});

test('a value that is not read is refused by its name, whatever the other tags say', () => {
  const good: TiffStorage = {
    planarConfiguration: 1,
    photometric: 1,
    bitsPerSample: [8],
    sampleFormat: [1],
    samplesPerPixel: 1,
    subsampling: [2, 2],
    predictor: 1,
    compression: 5,
    fillOrder: 1,
    isDng: false,
  };
  assert.equal(typeof tiffLayout(good), 'object');
  const cases: [Partial<TiffStorage>, RegExp][] = [
    [{ planarConfiguration: 3 }, /its PlanarConfiguration is 3, where 1 and 2 are allowed$/],
    [{ fillOrder: 0 }, /its FillOrder is 0, where 1 and 2 are allowed$/],
    [{ photometric: undefined }, /has no tag 262 \(PhotometricInterpretation\)/],
    [{ photometric: 2 }, /RGB of 1 samples a pixel \(SamplesPerPixel\)$/],
    [{ photometric: 5 }, /^A TIFF in CMYK has no defined luma: /],
    [{ photometric: 4 }, /^A TIFF in a mask /],
    [{ bitsPerSample: [12] }, /^12-bit unsigned samples are not supported: /],
    [{ bitsPerSample: [8, 8, 16] }, /^Samples of different depths \(8, 8, 16 bits\) /],
    [{ sampleFormat: [1, 1, 3] }, /^Samples of different formats \(SampleFormat 1, 1, 3\) /],
    [{ sampleFormat: [3], bitsPerSample: [32] }, /^32-bit floating-point samples need --scale MIN,MAX: /],
    [{ sampleFormat: [2] }, /^8-bit signed samples need --scale MIN,MAX: /],
    [{ sampleFormat: [6] }, /^Samples of format 6 \(SampleFormat\) /],
    [{ predictor: 3 }, /^Predictor 3 is not supported: /],
    [{ predictor: 2, bitsPerSample: [4] }, /^Predictor 2 of 4-bit samples /],
    [{ bitsPerSample: [16], photometric: 3 }, /^A palette of 16-bit samples /],
    [{ compression: 34925 }, /^A TIFF compressed as LZMA is not supported: /],
    [{ compression: 34887, bitsPerSample: [4] }, /^4-bit samples in LERC /],
    [{ compression: 34887, photometric: 6, samplesPerPixel: 3 }, /^YCbCr in LERC is not supported: RGB is$/],
    [{ compression: 12345 }, /^A TIFF compressed as 12345 is not supported: /],
    [{ compression: 6 }, /^A TIFF compressed as old-style JPEG is not supported: /],
    [
      { compression: 33003 },
      /^JPEG 2000 in YCbCr \(33003\) of 1 samples of 8 bits in a block, in a TIFF in gray, is not /,
    ],
    [
      { compression: 33003, photometric: 2, samplesPerPixel: 3, bitsPerSample: [16] },
      /^JPEG 2000 in YCbCr .* of 16 bits /,
    ],
    [{ compression: 34712, photometric: 3 }, /^A TIFF in a palette compressed as JPEG 2000 is not supported: /],
    [{ compression: 34712, bitsPerSample: [4] }, /^4-bit samples in JPEG 2000 are not supported: /],
    [{ compression: 7, samplesPerPixel: 5 }, /^5 samples in a block of JPEG are not supported: 1, 2, 3, 4 are$/],
    [{ compression: 7, bitsPerSample: [16] }, /^16-bit samples in JPEG /],
    [{ compression: 50001 }, /^1 samples in a block of WebP /],
    [{ compression: 4 }, /^Fax of 1 samples of 8 bits /],
    [{ photometric: 6, samplesPerPixel: 4 }, /^YCbCr of 4 samples a pixel /],
    [{ photometric: 6, samplesPerPixel: 3, subsampling: [2, 4] }, /^YCbCr with subsampling 2x4 /],
    [{ photometric: 6, samplesPerPixel: 3, planarConfiguration: 2 }, /^YCbCr in separate planes with subsampling 2x2 /],
    [{ photometric: 6, samplesPerPixel: 3, predictor: 2 }, /^Predictor 2 of subsampled YCbCr /],
    [{ isDng: true }, /^DNG is not supported: /],
  ];
  for (const [tags, sentence] of cases) assert.match(String(tiffLayout({ ...good, ...tags })), sentence);
});

test('bands and scaled samples are read where a page has them, or refused in a sentence', () => {
  const page: TiffStorage = {
    planarConfiguration: 1,
    photometric: 1,
    bitsPerSample: [32],
    sampleFormat: [3],
    samplesPerPixel: 4,
    subsampling: [2, 2],
    predictor: 3,
    compression: 50000,
    fillOrder: 1,
    isDng: false,
  };
  const scale = { min: -1, max: 1, bits: 16 };
  const layout = (tags: Partial<TiffStorage>, read: ReadOptions) => tiffLayout({ ...page, ...tags }, read);
  assert.deepEqual(layout({}, { band: { numbers: [3] }, scale }), {
    pixel: 'u16',
    colours: 'gray',
    isInverted: false,
    bits: 32,
    kind: 'float',
    scale,
    firstSamples: [2],
    firstPlanes: [0],
    samples: 4,
    planes: 1,
    coding: 'zstd',
    isReversed: false,
    isDifferences: false,
    isByRank: true,
    unit: [1, 1],
  });
  const bytes = { bitsPerSample: [8], sampleFormat: [1], predictor: 1 };
  const band = (...numbers: number[]): ReadOptions => ({ band: { numbers } });
  const sentences: [Partial<TiffStorage>, ReadOptions, string][] = [
    [bytes, band(5), 'The job reads band 5 (--band), and the TIFF has 4 bands'],
    [{ ...bytes, samplesPerPixel: 1 }, band(2), 'The job reads band 2 (--band), and the TIFF has 1 band'],
    [bytes, band(2, 6), 'The job reads bands 2, 6 (--band), and the TIFF has 4 bands'],
    [
      bytes,
      { band: { numbers: [1, 2, 3], all: true } },
      'The job reads all 3 bands of its first input (--band all), and the TIFF has 4 bands',
    ],
    [{ ...bytes, compression: 7 }, band(4), 'The job reads band 4 (--band), and the TIFF has 3 bands'],
    [
      { ...bytes, photometric: 3 },
      band(1),
      'The samples of a TIFF in a palette have no bands (--band): those in gray and RGB have',
    ],
    [
      { ...bytes, photometric: 6, samplesPerPixel: 3 },
      { scale },
      'The samples of a TIFF in YCbCr have no scale (--scale): those in gray and RGB have',
    ],
    [
      { bitsPerSample: [16] },
      { scale },
      '16-bit floating-point samples are not supported: 32, 64-bit ones are, with --scale MIN,MAX',
    ],
    [
      { bitsPerSample: [64], predictor: 2 },
      { scale },
      'Predictor 2 of 64-bit samples is not supported: it is defined for 8, 16 and 32 bits',
    ],
  ];
  for (const [tags, read, sentence] of sentences) assert.equal(layout(tags, read), sentence);
});
