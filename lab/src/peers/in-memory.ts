import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spreadOf } from '@halogrid/bench/statistics';
import { openDevice } from '@halogrid/gpu-node';
import { createPipeline, placeItem, planPipeline } from '@halogrid/kernels';
import { table } from '@halogrid/service/text-table';
import { workers } from './contestant.ts';
import { frameSize } from './inputs.ts';

const seconds = 4;
const framesABatch = 16;

/** Frames a second, a value for each turn. */
export interface MemoryRates {
  numpy: number[];
  ours: number[];
}

/** Times histograms of 1080p frames in memory: a NumPy process a core, and the threads of the cpu device, in turns. */
export async function raceInMemory(repetitions: number, interpreter: string): Promise<MemoryRates> {
  const rates: MemoryRates = { numpy: [], ours: [] };
  for (let turn = 0; turn < repetitions; turn++) {
    rates.numpy.push(await measureNumpy(interpreter));
    rates.ours.push(await measureCpuDevice());
  }
  return rates;
}

export function describeInMemory({ numpy, ours }: MemoryRates): string {
  const row = (name: string, values: number[], digits: number) => {
    const { median, min, max } = spreadOf(values);
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  return table([
    [`1080p frames in memory, ${workers} workers`, 'median', 'min', 'max'],
    row('NumPy, frames/s', numpy, 1),
    row('cpu device, frames/s', ours, 1),
    row(
      'cpu device / NumPy',
      ours.map((rate, turn) => rate / numpy[turn]!),
      2,
    ),
  ]);
}

/** Frames a second of all processes together. */
async function measureNumpy(interpreter: string): Promise<number> {
  const script = fileURLToPath(new URL('numpy_memory.py', import.meta.url));
  const programs = Array.from({ length: workers }, () => {
    const child = spawn(interpreter, [script, String(seconds)], { stdio: ['pipe', 'pipe', 'inherit'] });
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  });
  for (const { lines } of programs) await lines.next();
  for (const { child } of programs) child.stdin.end('go\n');
  const rates = await Promise.all(programs.map(async ({ lines }) => Number((await lines.next()).value)));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** Frames a second, with the copy of each frame into the device's memory. */
async function measureCpuDevice(): Promise<number> {
  const { device } = await openDevice('cpu');
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
  const plan = planPipeline(pipeline, { x: 0, y: 0, ...frameSize }, frameSize);
  const placed = Array.from({ length: framesABatch }, (_, i) => placeItem(plan, 1, i * placeItem(plan, 1, 0).end));
  const bytes = placed.at(-1)!.end;
  const frames = new Uint8Array(bytes).map((_, i) => Math.imul(i, 0x9e3779b1) >>> 24);
  let done = 0;
  const computeInTurn = async (untilMs: number) => {
    while (performance.now() < untilMs) {
      const staging = await device.acquire(bytes);
      staging.bytes.set(frames);
      await device.run(
        staging,
        placed.map(({ item }) => item),
        pipeline,
        false,
      );
      done += framesABatch;
    }
  };
  await computeInTurn(performance.now() + 500);
  done = 0;
  const startMs = performance.now();
  await Promise.all(Array.from({ length: workers + 1 }, () => computeInTurn(startMs + 1000 * seconds)));
  const rate = done / ((performance.now() - startMs) / 1000);
  await device.close();
  return rate;
}
