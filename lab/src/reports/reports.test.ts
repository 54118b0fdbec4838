import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';
import type { CudaRow } from '../cuda/cuda-programs.ts';
import { benchReports } from './bench-reports.ts';
import { drawChart } from './draw-chart.ts';
import { type EvaluatedTable, evaluateTable } from './evaluate-table.ts';
import { r1 } from './r1.ts';
import { r2 } from './r2.ts';
import { r3 } from './r3.ts';
import { r4 } from './r4.ts';
import { r5 } from './r5.ts';
import { renderCsv, renderTable } from './render-table.ts';
import { probeKey, type Report, type TimedWork } from './report.ts';
import { everyStrategy, type ListStrategies } from './scale.ts';

const defaultStrategy: ListStrategies = (operation, output) => everyStrategy(256)(operation, output).slice(0, 1);
const two: ListStrategies = () => [
  { name: 'window', lanes: { width: 32, height: 8 }, isExact: true },
  { name: 'plain', lanes: { width: 16, height: 16 }, isExact: true },
];
const reports = [r1, r2, r3, r4, r5];

const probesOf = ({ tables }: Report): TimedWork[] =>
  tables.flatMap(({ rows }) => rows.flatMap(({ times }) => Object.values(times)));

/** Made-up times that grow with the image, and are longer where the processor is slower. */
function madeUp(report: Report): Map<string, number[]> {
  const msAMegapixel = { kernel: 0.01, whole: 0.2, batch: 0.1, cpu: 1, threads: 0.1, twin: 40 };
  return new Map(
    probesOf(report).map((probe) => {
      const megapixels = 1e-6 * probe.size.width * probe.size.height * (probe.images ?? 1);
      const slower = JSON.stringify(probe.operations).length / 50;
      const ms = 0.003 + msAMegapixel[probe.timer] * megapixels * slower;
      return [probeKey(probe), [ms, 1.2 * ms, 0.9 * ms]];
    }),
  );
}

/** Made-up rows, one for every CUDA query. */
function madeUpCuda(report: Report): CudaRow[] {
  return report.tables.flatMap(({ rows }) =>
    rows.flatMap(({ cuda, otherCuda = {} }, i) =>
      [cuda, ...Object.values(otherCuda)]
        .filter((query) => query !== undefined)
        .map((query) => {
          const fields = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, [value].flat()[0]]));
          const ms = 0.02 + 0.001 * i;
          const row = { block: '32x8', ms: { mean: ms, median: ms, stdev: 0, min: ms }, repetitions: 5, ...fields };
          return row as unknown as CudaRow;
        }),
    ),
  );
}

function checkTable(table: EvaluatedTable): void {
  const lines = renderTable(table).trimEnd().split('\n');
  assert.ok(lines.length > table.rows.length);
  const [header, ...rows] = renderCsv(table).trimEnd().split('\r\n');
  assert.equal(rows.length, table.rows.length);
  for (const row of rows) assert.equal(cells(row).length, header!.split(',').length, row);
  for (const { name } of table.columns) assert.match(name, /^[a-z][a-z0-9_]*$/);
}

const cells = (row: string): string[] => row.replaceAll(/"[^"]*"/g, 'quoted').split(',');

for (const isQuick of [true, false]) {
  for (const [strategies, which] of [
    [defaultStrategy, 'the default'],
    [everyStrategy(1024), 'every strategy'],
    [two, 'two'],
  ] as const) {
    for (const describe of reports) {
      const report = describe({ isQuick, strategies });
      const name = `${report.id}, ${isQuick ? 'quick' : 'whole'}, ${which}`;
      test(`${name}: its kernels are right, its tables and charts complete, with CUDA and without`, () => {
        for (const { operations, output } of probesOf(report)) {
          const { bins } = createPipeline(operations);
          assert.ok(output === 'map' || bins > 0);
        }
        for (const cuda of [undefined, madeUpCuda(report)]) {
          for (const table of report.tables) {
            const evaluated = evaluateTable(table, madeUp(report), cuda);
            checkTable(evaluated);
            for (const plan of table.charts) {
              const svg = drawChart(plan, evaluated, 'A device');
              const isLeftOut = plan.kind === 'lines' && plan.isOfCuda && cuda === undefined;
              assert.equal(svg === undefined, isLeftOut === true, plan.name);
              if (svg) assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
            }
            const shown = evaluated.columns.some((column) => column.name === 'cuda_mean_ms');
            assert.equal(shown, cuda !== undefined && table.rows.some((row) => row.cuda));
          }
        }
      });
    }
  }
}

test('a value that was not measured is a dash, empty in the CSV, and not in a chart', () => {
  const report = r3({ isQuick: true, strategies: defaultStrategy });
  const table = report.tables[0]!;
  const evaluated = evaluateTable(table, new Map());
  assert.match(renderTable(evaluated).trimEnd().split('\n').at(-1)!, /^ *128( +-)+ +0\.1690 +0\.0970 +42\.60$/);
  assert.match(renderCsv(evaluated).trimEnd().split('\r\n').at(-1)!, /^128,+0\.169,0\.097,42\.6$/);
  assert.equal(drawChart(table.charts[0]!, evaluated, 'A device'), undefined);
});

test('the report’s own figures alone make no chart', () => {
  const report = r5({ isQuick: false, strategies: defaultStrategy });
  const table = report.tables[2]!;
  assert.equal(drawChart(table.charts[0]!, evaluateTable(table, new Map()), 'A device'), undefined);
});

test('R4 divides a thousand images as the times are', () => {
  const report = r4({ isQuick: true, strategies: defaultStrategy });
  const split = report.tables.find(({ name }) => name === 'split')!;
  const samples = new Map<string, number[]>();
  for (const { times } of split.rows) {
    samples.set(probeKey(times.whole!), [2]);
    samples.set(probeKey(times.cpu!), [38]);
  }
  const { values } = evaluateTable(split, samples).rows[0]!;
  assert.deepEqual([values.whole_speedup_over_cpu, values.images_to_device, values.images_to_cpu], [19, 950, 50]);
});

test('a chart by size never mixes shapes of a strategy, also where the first was not measured', () => {
  const shapes: ListStrategies = () => [
    { name: 'path', lanes: { width: 32, height: 8 }, isExact: true },
    { name: 'path', lanes: { width: 16, height: 16 }, isExact: true },
  ];
  const report = r2({ isQuick: true, strategies: shapes });
  const table = report.tables[0]!;
  const samples = madeUp(report);
  samples.delete(probeKey(table.rows[0]!.times.kernel!));
  const svg = drawChart(table.charts[0]!, evaluateTable(table, samples), 'A device')!;
  assert.equal(svg.match(/<circle/g)?.length, 1);
});

test('a column with the same value in all rows of one x is one line, beside a line for each strategy', () => {
  const report = r5({ isQuick: true, strategies: two });
  const table = report.tables[0]!;
  const svg = drawChart(table.charts[0]!, evaluateTable(table, madeUp(report), madeUpCuda(report)), 'A device')!;
  const names = [...svg.matchAll(/<text x="36" y="4">([^<]+)</g)].map(([, name]) => name);
  const ofAll = ['CUDA global here', 'CUDA shared here', 'the report’s loop here'];
  assert.deepEqual(names, ['halogrid window', ...ofAll, 'halogrid plain']);
});

test('a table that no report has is refused before anything is measured', async () => {
  const options = { reports: ['r1'], device: 'gpu', out: 'never-made', quick: true, cellSeconds: 1 } as const;
  const expected = "Expected some of comparison, strategies, batches for --tables but received 'blocks'";
  await assert.rejects(
    benchReports({ ...options, tables: ['batches', 'blocks'] }, () => {}),
    new UsageError(expected),
  );
});
