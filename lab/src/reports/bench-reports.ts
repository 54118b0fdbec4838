import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { withTimedDevice } from '@halogrid/bench/timed-device';
import { openDevice } from '@halogrid/gpu-node/devices';
import { writeFileAtomically } from '@halogrid/results';
import { cacheFolders, makeFolders, softwareVersion, UsageError } from '@halogrid/service';
import type { CudaCall } from '../cuda/cuda-programs.ts';
import { cudaRows, openCuda } from '../cuda/measure-cuda.ts';
import { ImageCache } from '../images/image-cache.ts';
import { photograph, writePhotograph } from '../images/photograph.ts';
import { drawChart } from './draw-chart.ts';
import { evaluateTable } from './evaluate-table.ts';
import { measureTable } from './measure-table.ts';
import { r1 } from './r1.ts';
import { r2 } from './r2.ts';
import { r3 } from './r3.ts';
import { r4 } from './r4.ts';
import { r5 } from './r5.ts';
import { renderCsv, renderTable } from './render-table.ts';
import type { Method, Report, ReportCall } from './report.ts';
import { everyStrategy, fewStrategies, type ReportScale, squareSize } from './scale.ts';
import type { Bench } from './time-probes.ts';

export const reports = { r1, r2, r3, r4, r5 } satisfies Record<string, (scale: ReportScale) => Report>;
export type ReportId = keyof typeof reports;

export interface BenchReportsOptions {
  reports: readonly ReportId[];
  /** Names of the tables of these reports to make; all unless given. */
  tables?: readonly string[];
  device: 'gpu' | 'software';
  out: string;
  quick: boolean;
  /** Samples, in place of the report's own number. */
  repetitions?: number;
  /** A cell whose measurement takes longer is left out. */
  cellSeconds: number;
}

/** What measured the CSV files of a folder: the file `machineFile` beside them. */
export interface Machine {
  device: string;
  cpu: string;
  /** Version of halogrid. */
  version: string;
  /** The day of its beginning, UTC. */
  date: string;
}
export const machineFile = 'machine.json';
/** The line below the title of a chart. */
export const machineLine = ({ device, cpu }: Machine): string => `${device}; ${cpu}`;

/** Enough samples to show that everything works. */
const quickRepetitions = 3;

/**
 * Measures tables of reports on this machine, prints them, and writes them and their charts into a folder. Rejects with
 * UsageError if the machine has no such device, or if none of the reports has a table of `tables`.
 */
export async function benchReports(options: BenchReportsOptions, print: (text: string) => void): Promise<void> {
  checkTables(options);
  const { name: device, maxLanes } = await describeGpu(options.device);
  const cpu = await nameOfCpu();
  const out = resolve(options.out);
  await makeFolders(out);
  const machine: Machine = { device, cpu, version: softwareVersion, date: new Date().toISOString().slice(0, 10) };
  await writeFileAtomically(join(out, machineFile), `${JSON.stringify(machine, null, 2)}\n`);
  print(`Device: ${device}. CPU: ${cpu}. A cell that takes longer than ${options.cellSeconds} s is '-'.\n`);
  const notes = new Set<string>();
  const note = (line: string) => {
    if (!notes.has(line)) print(`${line}\n`);
    notes.add(line);
  };
  const cuda = await openCuda(options.device, note);
  const images = new ImageCache(cacheFolders(process.env));
  const bench: Bench = {
    device: options.device,
    image: (size, index, content) => (content ? photograph(size) : images.load(size, index)),
  };
  const scratch = await mkdtemp(join(tmpdir(), 'halogrid-bench-reports-'));
  try {
    for (const id of options.reports) {
      const strategies = options.quick ? fewStrategies : everyStrategy(maxLanes);
      const report = reports[id]({ isQuick: options.quick, strategies });
      const repetitions = options.repetitions ?? (options.quick ? quickRepetitions : report.method.repetitions);
      const tables = report.tables.filter(({ name }) => options.tables?.includes(name) ?? true);
      if (tables.length === 0) continue;
      const method: Method = { ...report.method, repetitions };
      print(`\n${report.title}\n${methodLine(method)}\n`);
      const calls = report.cuda.filter(({ table }) => tables.some(({ name }) => !table || name === table));
      const rows = cuda && (await cudaRows(cuda, await readyCalls(calls, repetitions, scratch), note));
      const samples = new Map<string, number[]>();
      // Each table is written once it is measured, so that a stopped run keeps its tables.
      for (const table of tables) {
        await measureTable(table, samples, { bench, method, cellMs: 1000 * options.cellSeconds, note });
        const evaluated = evaluateTable(table, samples, rows);
        print(`\n${[table.title, table.note].filter(Boolean).join('\n')}\n${renderTable(evaluated)}`);
        await writeFileAtomically(join(out, `${id}-${table.name}.csv`), renderCsv(evaluated));
        for (const chart of table.charts) {
          const svg = drawChart(chart, evaluated, machineLine(machine));
          if (svg) await writeFileAtomically(join(out, `${id}-${chart.name}.svg`), svg);
        }
      }
    }
  } finally {
    await cuda?.remove();
    await rm(scratch, { recursive: true });
  }
  print(`\nCSV and charts are in ${out}\n`);
}

/** Completes calls with their repetitions, and with files of the images that are not random. */
async function readyCalls(calls: readonly ReportCall[], repetitions: number, scratch: string): Promise<CudaCall[]> {
  return await Promise.all(
    calls.map(async (call) => {
      const image = call.content && { image: await writePhotograph(scratch, squareSize(Number(call.arguments.sizes))) };
      return { ...call, arguments: { ...call.arguments, repetitions, ...image } };
    }),
  );
}

function checkTables({ reports: ids, tables = [] }: BenchReportsOptions): void {
  const names = ids.flatMap((id) =>
    reports[id]({ isQuick: true, strategies: fewStrategies }).tables.map(({ name }) => name),
  );
  const unknown = tables.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const allowed = [...new Set(names)].join(', ');
  throw new UsageError(`Expected some of ${allowed} for --tables but received '${unknown}'`);
}

/** Rejects with UsageError if the machine has no such device. */
async function describeGpu(kind: 'gpu' | 'software'): Promise<{ name: string; maxLanes: number }> {
  return withTimedDevice(kind, async ({ limits }, { name }) => ({
    name,
    maxLanes: limits.maxComputeInvocationsPerWorkgroup,
  }));
}

async function nameOfCpu(): Promise<string> {
  const { device } = await openDevice('cpu');
  await device.close();
  return device.info.name;
}

function methodLine({ repetitions, images }: Method): string {
  return `${repetitions} samples${images > 1 ? ` of each of ${images} images` : ''} after a warm-up, fewer where time is short.`;
}
