// Measures what answers of small frames cost a coordinator, without pixels.
//   npm run lab -- answers [FRAMES] [NODES] [REPETITIONS] [--jobs=JOBS] [--kill-at=FRAMES]
//     [--cpu-prof --cpu-prof-dir=DIR]
// The coordinator has real gRPC on loopback, a real ledger, and writes features.parquet and the final files. Node gets
// the flags and the environment of `halogrid coordinator`. Each node is a process, whose time is not counted. JOBS
// jobs share the FRAMES, and run at once.
// Prints for each repetition, until the last result and until the end of all jobs: frames of 256 bins a second, and
// microseconds of processor time a frame, of all threads of the coordinator and of its main thread. Meanwhile it prints
// the memory of the coordinator. --kill-at kills the coordinator when FRAMES frames are done, starts another that goes
// on with the jobs, and prints the time to its first lease. --cpu-prof leaves a profile of each thread of the
// coordinator in DIR.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { environment, nodeFlags } from 'halogrid/launch';

const jobs = Number(/--jobs=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 1);
const profiles = process.argv.filter((word) => word.startsWith('--cpu-prof'));
const killAt = Number(/--kill-at=(\d+)/.exec(process.argv.join(' '))?.[1] ?? Number.POSITIVE_INFINITY);
const [frames = 200_000, nodes = 4, repetitions = 3] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith('--'))
  .map(Number);

/** The nodes, which serve one coordinator after another. */
const nodeProcesses = Array.from({ length: nodes }, (_, node) => {
  const words = [new URL('./answer-leases.ts', import.meta.url).pathname, `node-${node}`];
  return spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'], env: environment() });
});

interface Served {
  child: ReturnType<typeof serve>;
  lines: AsyncIterator<string>;
  /** Resolves at the first lease of the coordinator. */
  leased: Promise<unknown>;
}

function serve(folder: string) {
  const program = new URL('./serve.ts', import.meta.url).pathname;
  const words = [
    ...nodeFlags(['coordinator']),
    ...profiles,
    program,
    String(frames),
    String(nodes),
    String(jobs),
    folder,
  ];
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() });
}

async function start(folder: string): Promise<Served> {
  const child = serve(folder);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { port } = JSON.parse((await lines.next()).value!);
  const leased = Promise.race(nodeProcesses.map(({ stdout }) => once(stdout, 'data')));
  for (const { stdin } of nodeProcesses) stdin.write(`${port}\n`);
  return { child, lines, leased };
}

/** Kills the coordinator. Resolves with its successor after the first lease of the same job. */
async function killAndGoOn({ child }: Served, folder: string): Promise<Served> {
  child.kill('SIGKILL');
  await once(child, 'exit');
  const startMs = performance.now();
  const next = await start(folder);
  const servedMs = performance.now();
  await next.leased;
  const seconds = (ms: number) => ((ms - startMs) / 1000).toFixed(2);
  console.log(`killed; another serves after ${seconds(servedMs)} s, and leases after ${seconds(performance.now())} s`);
  return next;
}

for (let i = 0; i < repetitions; i++) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  let served = await start(folder);
  let isKilled = false;
  const next = async () => JSON.parse((await served.lines.next()).value!);
  let end = await next();
  for (; 'done' in end; end = await next()) {
    console.log(`${(end.done / 1e6).toFixed(2)} million frames: ${Math.round(end.rss / 2 ** 20)} MB`);
    if (isKilled || end.done < killAt) continue;
    isKilled = true;
    served = await killAndGoOn(served, folder);
  }
  const { state, digest, computed, whole, rss } = end;
  const say = ({ frames, all, main, seconds }: Record<string, number>): string =>
    `${Math.round(frames! / seconds!)} a second, ${all!.toFixed(1)} µs, main thread ${main!.toFixed(1)} µs, ${seconds!.toFixed(1)} s`;
  console.log(
    `${state} ${digest.slice(0, 8)}: results ${say(computed)}; whole job ${say(whole)}; ${Math.round(rss / 1024)} MB`,
  );
  if (served.child.exitCode === null) await once(served.child, 'exit');
  await rm(folder, { recursive: true });
}
for (const { stdin } of nodeProcesses) stdin.end();
