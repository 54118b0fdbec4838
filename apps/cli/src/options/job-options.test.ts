import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline, specifiedOperations } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';
import { Command } from 'commander';
import { addJobOptions, type JobOptions, parseJob } from './job-options.ts';

/** Parses a command line as `run` and `submit` do, in folder /data. */
function parse(...args: string[]) {
  let options: JobOptions | undefined;
  let sources: string[] = [];
  const command = addJobOptions(new Command().argument('<source...>').exitOverride()).action((given, parsed) => {
    sources = given;
    options = parsed;
  });
  command.configureOutput({ outputError: () => {} }).parse(args, { from: 'user' });
  return parseJob(sources, options!, '/data');
}

test('a source alone asks for the defaults', () => {
  const { spec, nameOutByJob } = parse('a.png');
  assert.equal(nameOutByJob, true);
  assert.deepEqual(spec, {
    sources: ['file:///data/a.png'],
    pipeline: { operations: specifiedOperations(createPipeline([{ kernel: 'lbp', parameters: {} }])) },
    op: [],
    out: 'file:///data/halogrid-out',
    mapFormat: 'none',
    tilePx: 0,
    batchFrames: 0,
    grid: { rows: 1, columns: 1 },
    priority: undefined,
    verifyPercent: undefined,
    checksum: undefined,
    fresh: undefined,
    maxQuarantined: undefined,
    waitForNode: undefined,
    video: undefined,
    captured: undefined,
    filter: undefined,
    column: undefined,
    nodata: undefined,
    mask: undefined,
    level: undefined,
    page: undefined,
    band: undefined,
    scale: undefined,
  });
});

test('--pipeline names chains of kernels, which are taken apart before the name of a kernel alone', () => {
  const { spec } = parse(
    'a.png',
    '--pipeline',
    'plain=lbp',
    '--pipeline',
    'edges-1=conv:kernel=gaussian-5,as=u8+lbp+lbp',
    '--pipeline',
    'far=conv:kernel=gaussian-5,as=u8+glcm:offsets=5@0+5@90',
  );
  const gaussian = { kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' } };
  const lbp = { kernel: 'lbp', parameters: {} };
  const glcm = { kernel: 'glcm', parameters: { offsets: '5@0+5@90' } };
  const operationsOf = (...asked: (typeof gaussian | typeof lbp | typeof glcm)[]) => {
    return { operations: specifiedOperations(createPipeline(asked as (typeof lbp)[])) };
  };
  assert.equal(spec!.pipeline, undefined);
  assert.deepEqual(spec!.pipelines, {
    named: [
      { name: 'plain', pipeline: operationsOf(lbp), op: [] },
      { name: 'edges-1', pipeline: operationsOf(gaussian, lbp, lbp), op: [] },
      { name: 'far', pipeline: operationsOf(gaussian, glcm), op: [] },
    ],
  });
});

for (const [given, message] of [
  [['--pipeline', 'lbp'], /^Expected NAME=OP for --pipeline, such as lbp=lbp, but received 'lbp'$/],
  [['--pipeline', 'lbp:points=8'], /^Expected NAME=OP for --pipeline/],
  [['--pipeline', 'a b=lbp'], /^Expected letters, digits, .* for the name of --pipeline but received 'a b'$/],
  [['--pipeline', 'a=lbq'], /^Expected one of lbp, .* for --pipeline a but received 'lbq'$/],
  [
    ['--pipeline', 'a=lbp', '--pipeline', 'b=ldp', '--map', 'png'],
    /^Expected tiff, .* received 'png', because .*, in --pipeline b$/,
  ],
  [['--pipeline', 'a=lbp', '--op', 'lbp'], /^Expected --op or --pipeline but received both/],
  [['--pipeline', 'a=lbp', '--pipeline', 'b=conv:kernel=sobel', '--verify', '5'], /^Expected 0 for --verify/],
] as const) {
  test(`${given.join(' ')} is refused with a sentence`, () => {
    assert.throws(() => parse('a.png', ...given), { message });
  });
}

test('every option reaches the specification', () => {
  const { spec, nameOutByJob } = parse(
    ...['/x/a b.png', 'file:///y/frames', '--op', 'conv:kernel=gaussian-5,as=u8'],
    ...['--op', 'lbp:convention=nw-cw-lsb', '--border', 'reflect', '--out', 'out'],
    ...['--map', 'tiff', '--grid', '4x6', '--tile', '100', '--batch', '7'],
    ...['--priority', '-3', '--verify', '12.5%', '--checksum', '--fresh'],
    ...[
      '--max-quarantined',
      '10',
      '--wait-for-node',
      '--include',
      '*.png',
      '--include',
      'a/**',
      '--exclude',
      'b',
      '--column',
      'image.bytes',
      '--nodata',
      '-9999.0',
      '--mask',
      'masks',
      '--level',
      '.50 um',
      '--page',
      '4',
      '--band',
      '3',
      '--scale',
      '-0.5,1e3,u16',
    ],
  );
  assert.equal(nameOutByJob, false);
  assert.deepEqual(spec, {
    sources: ['file:///x/a%20b.png', 'file:///y/frames'],
    pipeline: {
      operations: specifiedOperations(
        createPipeline([
          { kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' }, border: 'reflect' },
          { kernel: 'lbp', parameters: { convention: 'nw-cw-lsb' }, border: 'reflect' },
        ]),
      ),
    },
    op: [],
    out: 'file:///data/out',
    mapFormat: 'tiff',
    tilePx: 100,
    batchFrames: 7,
    grid: { rows: 4, columns: 6 },
    priority: -3,
    verifyPercent: 12.5,
    checksum: true,
    fresh: true,
    maxQuarantined: { limit: { $case: 'inputs', value: 10 } },
    waitForNode: true,
    video: undefined,
    captured: undefined,
    filter: { include: ['*.png', 'a/**'], exclude: ['b'] },
    column: 'image.bytes',
    nodata: '-9999',
    mask: 'file:///data/masks',
    level: '0.5um',
    page: 4,
    band: { numbers: [3] },
    scale: { min: -0.5, max: 1000, bits: 16 },
  });
});

test('a border may be called by its name elsewhere', () => {
  assert.equal(parse('a.png', '--border', 'symmetric').spec?.pipeline?.operations[0]?.border, 'reflect');
});

test('inputs that may be quarantined are a number or a percentage', () => {
  const limit = (text: string) => parse('a.png', '--max-quarantined', text).spec?.maxQuarantined?.limit;
  assert.deepEqual(limit('0'), { $case: 'inputs', value: 0 });
  assert.deepEqual(limit('1000000000'), { $case: 'inputs', value: 1e9 });
  assert.deepEqual(limit('0%'), { $case: 'percent', value: 0 });
  assert.deepEqual(limit('2.5%'), { $case: 'percent', value: 2.5 });
  assert.deepEqual(limit('100%'), { $case: 'percent', value: 100 });
});

const refused: [string[], RegExp][] = [
  [['--verify', '101'], /^Expected 0 to 100 percent for --verify but received '101'$/],
  [
    ['--op', 'conv:kernel=sobel-x', '--verify', '1'],
    /^Expected 0 for --verify but received '1', because histograms are what is compared/,
  ],
  [
    ['--max-quarantined', '101%'],
    /^Expected a whole number from 0, or 0% to 100%, for --max-quarantined but received '101%'$/,
  ],
  [['--max-quarantined', '1.5'], /for --max-quarantined but received '1.5'$/],
  [['--max-quarantined', '-1'], /for --max-quarantined but received '-1'$/],
  [['--max-quarantined', ''], /for --max-quarantined but received ''$/],
  [['--priority', '101'], /^Expected a whole number from -100 to 100 for --priority but received '101'$/],
  [
    ['--band', '0'],
    /^Expected numbers from 1 to 65535, each once and 1024 at most, or all, for --band but received '0'$/,
  ],
  [['--band', '1,2,1'], /for --band but received '1,2,1'$/],
  [['--scale', '5'], /^Expected two numbers, .* for --scale but received '5'$/],
  [['--scale', '1,0'], /for --scale but received '1,0'$/],
  [['--scale', 'nan,1'], /for --scale but received 'nan,1'$/],
  [['--scale', '0,Infinity'], /for --scale but received '0,Infinity'$/],
  [['--scale', '0,1,f32'], /for --scale but received '0,1,f32'$/],
  [['--op', 'sift'], /^Expected one of lbp, ldp, conv, glcm for --op but received 'sift'$/],
  [
    ['--op', 'lbp:convention=x'],
    /^Expected one of nw-cw-msb, nw-cw-lsb, .* for lbp:convention but received 'x' \(--op\)$/,
  ],
  [['--op', 'lbp:size=3'], /for a parameter of lbp but received 'size' \(--op\)$/],
  [
    ['--op', 'ldp', '--op', 'lbp'],
    /^Expected u8 gray for the input of kernel 2 .* but received 'u8 0 45 90 135 of ldp' \(--op\)$/,
  ],
  [['--op', 'conv:matrix=none.json'], /^Expected a JSON file for conv:matrix but 'none.json' cannot be read/],
  [['--op', 'conv:kernel=box-4'], /box-4/],
  [['--border', 'torus'], /^Expected one of zero, .*, interior for --border but received 'torus'$/],
  [['--border', ''], /^Expected one of zero, .* for --border but received ''$/],
  [
    ['--op', 'lbp:border=wrap'],
    /^Expected --border wrap, which holds for every kernel, but received 'lbp:border=wrap' for --op$/,
  ],
  [
    ['--op', 'ldp', '--map', 'png'],
    /^Expected tiff, zarr or none for --map but received 'png', because a PNG cannot hold 4 bands of u8$/,
  ],
  [
    ['--op', 'conv:kernel=sobel', '--map', 'dzi'],
    /^Expected .* 'dzi', because Deep Zoom shows one or three bands of codes that have a histogram, not a band of f32$/,
  ],
  [
    ['--map', 'gif'],
    /^Expected one of none, tiff, tiff:deflate, zarr, zarr:zstd, png, dzi for --map but received 'gif'$/,
  ],
  [['--grid', '4'], /^Expected RxC with whole numbers from 1, such as 4x6, for --grid but received '4'$/],
  [['--grid', '0x4'], /for --grid but received '0x4'$/],
  [['--grid', '2000x2000'], /^Expected at most 262144 cells \(of 256 bins each\) for --grid but received '2000x2000'$/],
  [['--tile', '0'], /^Expected a whole number from 1 to \d+ for --tile but received '0'$/],
  [['--tile', '-5'], /^Expected a whole number from 1 to \d+ for --tile but received '-5'$/],
  [['--tile', '99999'], /for --tile but received '99999'$/],
  [['--batch', '1.5'], /^Expected a whole number from 1 to \d+ for --batch but received '1.5'$/],
  [['--batch', 'many'], /for --batch but received 'many'$/],
  [['--out', ''], /^Expected a path for --out but received ''$/],
  [
    ['--out', 'http://host/x'],
    /^'http:\/\/host\/x' is not supported: expected a path, or a URI of file: or s3: \(--out\)$/,
  ],
  [['--out', 's3://bucket/a//b'], /^'s3:\/\/bucket\/a\/\/b' has an empty name between two slashes \(--out\)$/],
  [
    ['ftp://host/a.png'],
    /^'ftp:\/\/host\/a.png' is not supported: expected a path, or a URI of file:, http:, https:, s3:, gs: or az: \(SOURCE 2\)$/,
  ],
];

for (const [args, sentence] of refused) {
  test(`${args.join(' ')} is refused with one sentence`, () => {
    assert.throws(
      () => parse('a.png', ...args),
      (error: Error) => error instanceof UsageError && sentence.test(error.message),
    );
  });
}
