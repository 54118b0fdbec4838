import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { r1 } from './r1.ts';
import { r2 } from './r2.ts';
import { r3 } from './r3.ts';
import { r4 } from './r4.ts';
import { r5 } from './r5.ts';
import { readCsv } from './read-csv.ts';
import type { Report, ReportRow } from './report.ts';
import { fewStrategies } from './scale.ts';

// The code and lab/reports/published have the same figures of the reports. Somebody copied the latter from the texts of
// the reports without a look at the code.

const scale = { isQuick: false, strategies: fewStrategies };

type Cells = Record<string, string | number | undefined>;

function published(name: string): Cells[] {
  const url = new URL(`../../reports/published/${name}.csv`, import.meta.url);
  return readCsv(readFileSync(url, 'utf8')).rows.map(({ values }) => values);
}

/** Figures of a table by 'label hardware column'. A figure in several rows must be the same in all. */
function inCode(report: Report, table: string, labelOf: (labels: ReportRow['labels']) => string) {
  const figures: Record<string, number> = {};
  for (const { labels, reported = {} } of report.tables.find(({ name }) => name === table)!.rows) {
    for (const [hardware, columns] of Object.entries(reported)) {
      for (const [column, value] of Object.entries(columns)) {
        const key = `${labelOf(labels)} ${hardware} ${column}`;
        assert.ok(figures[key] === undefined || figures[key] === value, key);
        figures[key] = value;
      }
    }
  }
  return figures;
}

/** Without columns that the code computes from others. */
const without = (figures: Record<string, number>, column: RegExp) =>
  Object.fromEntries(Object.entries(figures).filter(([key]) => !column.test(key)));

const toMs = (seconds: string | number | undefined): number => Number((1000 * Number(seconds)).toFixed(3));
const keyed = (rows: readonly Cells[], keyOf: (row: Cells) => string, value: (row: Cells) => unknown) =>
  Object.fromEntries(rows.map((row) => [keyOf(row), value(row)]));
const saidIn = (name: string, what: RegExp): (string | number | undefined)[] =>
  published(name).flatMap((row) => (what.test(String(row.what)) ? [row.value] : []));

/** Figures across the whole width of a chart. */
const levelsOf = ({ tables }: Report) =>
  tables.flatMap(({ charts }) => charts.flatMap((chart) => (chart.kind === 'lines' ? (chart.levels ?? []) : [])));

test('R1: tables 1 to 3 and the levels of figure 6', () => {
  const report = r1(scale);
  const whatOf: Record<string, string> = {
    'CPU Seq': 'cpu device, 1 thread',
    'CPU OpenMP': 'cpu device, all threads',
    'GPU Naive': 'kernel',
  };
  const rows = published('r1-table-1');
  const key = (row: Cells, column: string) => `${whatOf[String(row.implementation)]} GTX 1050 ${column}`;
  assert.deepEqual(
    inCode(report, 'comparison', ({ what }) => (String(what).split(', ')[0] === 'kernel' ? 'kernel' : String(what))),
    {
      ...keyed(
        rows,
        (row) => key(row, 'ms'),
        ({ ms }) => ms,
      ),
      ...keyed(
        rows,
        (row) => key(row, 'x over CPU'),
        (row) => row.speedup_x,
      ),
    },
  );

  const strategies: Record<string, string> = { Naive: 'CUDA global', Texture: 'CUDA read-only', Shared: 'CUDA shared' };
  const shapes = [...published('r1-table-2'), ...published('r1-table-3').map((row) => ({ strategy: 'Naive', ...row }))];
  const shape = (row: Cells, column: string) => `${strategies[String(row.strategy)]} ${row.block} GTX 1050 ${column}`;
  assert.deepEqual(
    inCode(report, 'strategies', ({ strategy, block }) => `${strategy} ${block}`),
    {
      ...keyed(
        shapes,
        (row) => shape(row, 'ms'),
        ({ ms }) => ms,
      ),
      ...keyed(
        shapes,
        (row) => shape(row, 'GB/s'),
        (row) => row.gb_per_s,
      ),
    },
  );

  const levels = levelsOf(report);
  for (const [name, what] of [
    ['pinned', /pinned/],
    ['pageable', /pageable/],
  ] as const) {
    assert.ok(saidIn('r1-text', what).includes(levels.find((level) => level.name.endsWith(name))!.y), name);
  }
});

test('R2: its best speed-ups', () => {
  assert.deepEqual(
    levelsOf(r2(scale)).map(({ y }) => y),
    [
      saidIn('r2-text', /^best speed-up of LBP and histogram/)[0],
      saidIn('r2-text', /whole run|with transfers|overall|global speed-up/i)[0],
    ],
  );
});

test('R3: tables 1 to 3 and what is saved', () => {
  const column = (name: string, from: string, to: string) =>
    keyed(
      published(name),
      ({ side_px }) => `${side_px} RTX 3080 ${to}`,
      (row) => row[from],
    );
  const expected = {
    ...column('r3-table-1', 'cpu_ms', 'CPU ms'),
    ...column('r3-table-2', 'gpu_ms', 'GPU ms'),
    ...column('r3-table-3', 'opt_gpu_ms', 'tiled GPU ms'),
    ...column('r3-table-3-5-1', 'saved_percent', 'GPU saves, %'),
    ...column('r3-table-3-5-2', 'saved_percent', 'tiled saves, %'),
  };
  const measured = Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== '~0'));
  assert.deepEqual(
    inCode(r3(scale), 'sizes', ({ side }) => String(side)),
    measured,
  );
});

test('R4: tables 2 to 4, the loop of 88x88, and images to the GPU', () => {
  const report = r4(scale);
  const bySide = ({ side }: ReportRow['labels']) => String(side);
  const blocks: Record<string, unknown> = {};
  const streams: Record<string, unknown> = {};
  for (const [hardware, part] of [
    ['GeForce 720m', 'a'],
    ['Tesla K40c', 'b'],
  ]) {
    const column = (table: number, from: string, to: string) =>
      keyed(
        published(`r4-table-${table}${part}`),
        ({ side_px }) => `${side_px} ${hardware} ${to}`,
        (row) => toMs(row[from]),
      );
    const loops = [2, 3, 4].map((table) => column(table, 'cpu_s', 'CPU ms'));
    for (const loop of loops) assert.deepEqual(loop, loops[0]);
    Object.assign(blocks, loops[0], column(2, 'gpu_s', 'shared ms'), column(3, 'gpu_s', 'L1 ms'));
    Object.assign(streams, column(4, 'gpu_s', 'streams ms'));
  }
  const loopOf88 = (machine: number) => toMs(saidIn('r4-text', new RegExp(`GPU ${machine}, 88x88`))[0]);
  assert.deepEqual(without(inCode(report, 'blocks', bySide), / x$/), blocks);
  assert.deepEqual(without(inCode(report, 'sizes', bySide), / x, best$/), {
    ...blocks,
    '88 GeForce 720m CPU ms': loopOf88(1),
    '88 Tesla K40c CPU ms': loopOf88(2),
  });
  assert.deepEqual(inCode(report, 'streams', bySide), streams);
  assert.deepEqual(inCode(report, 'split', bySide), {
    '256 GeForce 720m images to the GPU': saidIn('r4-text', /images of 256x256 given to the GPU/)[0],
    '4096 GeForce 720m images to the GPU': saidIn('r4-text', /images of 4096x4096 given to the GPU/)[0],
  });
});

test('R5: tables 1 to 5', () => {
  const report = r5(scale);
  const x = (table: string, labelOf: (row: Cells) => string, column: string, from = 'speedup_x') =>
    keyed(
      published(table),
      (row) => `${labelOf(row)} RTX 3060 Ti ${column}`,
      (row) => row[from],
    );
  const bySize = ({ kernel, side_px }: Cells) => `${kernel} ${side_px}`;
  assert.deepEqual(
    inCode(report, 'sizes', ({ kernel, side }) => `${kernel} ${side}`),
    { ...x('r5-table-1', bySize, 'global x'), ...x('r5-table-2', bySize, 'shared x') },
  );
  const byKernel = ({ kernel }: Cells) => String(kernel);
  assert.deepEqual(
    inCode(report, 'kernel-sides', ({ kernel, side }) => `${kernel}-${side}`),
    {
      ...x('r5-table-3', byKernel, 'global x'),
      ...x('r5-table-3', byKernel, 'global ms', 'gpu_ms'),
      ...x('r5-table-4', byKernel, 'shared x'),
      ...x('r5-table-4', byKernel, 'shared ms', 'gpu_ms'),
    },
  );
  const versions: Record<string, string> = {
    'stock-global': 'global',
    'stock-shared': 'shared',
    'tuned-shared': 'tuned',
  };
  assert.deepEqual(
    inCode(report, 'blocks', ({ kernel, strategy, block }) => `${kernel} ${strategy} ${block}`),
    keyed(
      published('r5-table-5'),
      ({ kernel, version, block }) => {
        const column = versions[String(version)];
        return `${kernel} CUDA ${column === 'global' ? 'global' : 'shared'} ${block} RTX 3060 Ti ${column} x`;
      },
      (row) => row.speedup_x,
    ),
  );
});
