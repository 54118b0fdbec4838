import assert from 'node:assert/strict';
import { test } from 'node:test';
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
    pipeline: { operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-msb' } }], border: 'interior' },
    out: 'file:///data/halogrid-out',
    mapFormat: 'none',
    tilePx: 0,
    batchFrames: 0,
  });
});

test('every option reaches the specification', () => {
  const { spec, nameOutByJob } = parse(
    ...['/x/a b.png', 'file:///y/frames', '--op', 'lbp:convention=nw-cw-lsb', '--border', 'reflect', '--out', 'out'],
    ...['--map', 'tiff', '--grid', '1x1', '--tile', '100', '--batch', '7'],
  );
  assert.equal(nameOutByJob, false);
  assert.deepEqual(spec, {
    sources: ['file:///x/a%20b.png', 'file:///y/frames'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-lsb' } }], border: 'reflect' },
    out: 'file:///data/out',
    mapFormat: 'tiff',
    tilePx: 100,
    batchFrames: 7,
  });
});

test('a border may be called by its name elsewhere', () => {
  assert.equal(parse('a.png', '--border', 'symmetric').spec?.pipeline?.border, 'reflect');
});

const refused: [string[], RegExp][] = [
  [['--op', 'sift'], /^Expected one of lbp for --op but received 'sift'$/],
  [['--op', 'lbp:convention=x'], /^Expected one of nw-cw-msb, nw-cw-lsb for lbp:convention but received 'x'$/],
  [['--op', 'lbp:size=3'], /^Expected 'convention' for a parameter of lbp but received 'size'$/],
  [['--op', 'lbp', '--op', 'lbp'], /a single kernel for the pipeline but received 'lbp then lbp'$/],
  [['--border', 'torus'], /^Expected one of zero, .* for border but received 'torus'$/],
  [['--map', 'zarr'], /^Expected one of none, tiff, png for --map but received 'zarr', which is not supported yet$/],
  [['--map', 'gif'], /^Expected one of none, tiff, png for --map but received 'gif'$/],
  [['--grid', '4x4'], /^Expected 1x1 for --grid but received '4x4', which is not supported yet$/],
  [['--grid', '4'], /^Expected 1x1 for --grid but received '4'$/],
  [['--tile', '0'], /^Expected a whole number from 1 to \d+ for --tile but received '0'$/],
  [['--tile', '-5'], /^Expected a whole number from 1 to \d+ for --tile but received '-5'$/],
  [['--tile', '99999'], /for --tile but received '99999'$/],
  [['--batch', '1.5'], /^Expected a whole number from 1 to \d+ for --batch but received '1.5'$/],
  [['--batch', 'many'], /for --batch but received 'many'$/],
  [['--out', ''], /^Expected a path but received ''$/],
  [['--out', 's3://bucket/x'], /^'s3:\/\/bucket\/x' is not supported yet/],
  [['http://host/a.png'], /^'http:\/\/host\/a.png' is not supported yet/],
];

for (const [args, sentence] of refused) {
  test(`${args.join(' ')} is refused with one sentence`, () => {
    assert.throws(
      () => parse('a.png', ...args),
      (error: Error) =>
        (error instanceof UsageError || error.name === 'ParameterError') && sentence.test(error.message),
    );
  });
}
