// The cpu device against NumPy: LBP histograms of 1080p frames in memory, in turns, two threads against two processes.
// node test/bench/numpy/compare.ts [REPETITIONS]; needs python3 with NumPy (Debian: python3-numpy).
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDevice } from '@halogrid/gpu-node';
import { createPipeline, placeItem, planPipeline } from '@halogrid/kernels';

const workers = 2;
const seconds = 4;
const size = { width: 1920, height: 1080 };
const framesABatch = 16;
const repetitions = Number(process.argv[2] ?? 5);

const numpy: number[] = [];
const ours: number[] = [];
for (let i = 0; i < repetitions; i++) {
  numpy.push(await measureNumpy());
  ours.push(await measureCpuDevice());
}
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const row = (name: string, values: number[], digits: number): string =>
  [name, ...[median(values), Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits))].join(
    '  ',
  );
console.log(`1920 x 1080 LBP histograms, ${workers} workers, ${repetitions} repetitions: median  min  max`);
console.log(row('NumPy, frames/s', numpy, 1));
console.log(row('cpu device, frames/s', ours, 1));
console.log(
  row(
    'cpu device / NumPy',
    ours.map((rate, i) => rate / numpy[i]!),
    2,
  ),
);
process.exit(0);

/** Frames a second of all processes together. */
async function measureNumpy(): Promise<number> {
  const script = fileURLToPath(new URL('lbp.py', import.meta.url));
  const programs = Array.from({ length: workers }, () => {
    const child = spawn('python3', [script, String(seconds)], { stdio: ['pipe', 'pipe', 'inherit'] });
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
  const plan = planPipeline(pipeline, { x: 0, y: 0, ...size }, size);
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
