import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoundRun, QuarantinedRow, SettledRun } from '@halogrid/ledger';
import type { HistogramShape } from '@halogrid/results/histogram-shape';
import fc from 'fast-check';
import { RangeCutter, type RangePiece } from './cut-ranges.ts';

const shapeOf = (bins: number): HistogramShape => ({ grid: { rows: 1, columns: 1 }, channels: 1, bins });

/** Runs of these lengths; every third is quarantined. */
function runsOf(lengths: readonly number[]): SettledRun[] {
  let first = 0;
  return lengths.map((count, shard) => {
    const from = first;
    first += count;
    if (shard % 3 === 2) {
      const sources = Array.from({ length: count }, (_, nth) => ({ index: from + nth }) as QuarantinedRow);
      return { kind: 'quarantined', sources };
    }
    const planned = { file: 'log', offset: 100 * shard, length: 100, nth: 7 };
    return { kind: 'found', first: from, count, planned, found: {} as FoundRun['found'], shard };
  });
}

/** Each source: its number, shard, and place in the block. */
const sourcesOf = (runs: readonly SettledRun[]): unknown[] =>
  runs.flatMap((run): unknown[] => {
    if (run.kind === 'quarantined') return run.sources;
    return Array.from({ length: run.count }, (_, nth) => [run.first + nth, run.shard, run.planned.nth + nth]);
  });

/** Cuts runs into pieces. A piece also ends after the runs whose numbers are in `ends`. */
function cut(bins: readonly number[], lengths: readonly number[], counts?: number, ends: number[] = []): RangePiece[] {
  const cutter = new RangeCutter(bins.map(shapeOf), { counts });
  const pieces = runsOf(lengths).flatMap((run, i) => [
    ...cutter.add(run),
    ...(ends.includes(i) ? cutter.endPiece() : []),
  ]);
  return [...pieces, ...cutter.end()];
}

const sizesOf = (pieces: readonly RangePiece[]): string =>
  pieces.map(({ runs, isLast }) => `${sourcesOf(runs).length}${isLast ? '' : '…'}`).join(' ');

test('property: pieces have all sources in order, and ranges end where row groups of all pipelines do', () => {
  const bins = fc.array(fc.constantFrom(0, 1, 16, 256, 4096, 65_536), { minLength: 1, maxLength: 3 });
  const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 9000 })));
  fc.assert(
    fc.property(
      bins,
      lengths,
      fc.constantFrom(1, 2 ** 14, 2 ** 20),
      fc.array(fc.nat(9)),
      (bins, lengths, counts, ends) => {
        const pieces = cut(bins, lengths, counts, ends);
        assert.deepEqual(sourcesOf(pieces.flatMap(({ runs }) => runs)), sourcesOf(runsOf(lengths)));
        // A row group has 2^18 counts, and 8192 rows at most.
        const step = Math.max(
          1,
          ...bins.map((of) => of && Math.min(2 ** 13, 2 ** 18 / of), 8 * Number(bins.includes(65_536))),
        );
        let end = 0;
        for (const { runs, isLast } of pieces.slice(0, -1)) {
          end += sourcesOf(runs).length;
          if (isLast) assert.equal(end % step, 0);
        }
        assert.equal(pieces.at(-1)?.isLast ?? true, true);
      },
    ),
    { numRuns: 60 },
  );
});

test('ranges end with runs if they can, and a range with very many counts has several pieces', () => {
  const table: [bins: number[], lengths: number[], expected: string][] = [
    [[256], [], ''],
    [[256], Array(70).fill(128), '8192 768'],
    // A run that does not end at a multiple of the step is cut.
    [[256], [100, ...Array(70).fill(128)], '8192 868'],
    [[256], [20_000], '16384 3616'],
    [[3], Array(140).fill(128), '8192 8192 1536'],
    [[65_536], [128, 127, 129], '128 120 136'],
    [[0], Array(70).fill(128), '8192 768'],
    [[3, 65_536], Array(70).fill(128), `${Array(63).fill('128…').join(' ')} 128 ${Array(6).fill('128…').join(' ')} 0`],
  ];
  for (const [bins, lengths, expected] of table) assert.equal(sizesOf(cut(bins, lengths)), expected, String(bins));
});
