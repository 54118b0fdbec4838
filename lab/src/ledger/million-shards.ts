// Measures how fast a ledger takes a job of SHARDS shards (a million unless given), and gives it back.
//   npm run lab -- ledger [SHARDS]
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanStep } from '@halogrid/jobs/shard';
import { batchSteps } from '@halogrid/jobs/testing-planned';
import { type LogLedger, openRegistry } from '@halogrid/ledger';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { JobSpec } from '@halogrid/proto';
import { packSums } from '@halogrid/results/part-sums';

const shards = Number(process.argv[2] ?? 1_000_000);
/** Steps of a write of the plan, and commits that are unanswered at a time: as many as in a coordinator. */
const planSteps = 1024;
const unanswered = 256;

const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
const path = join(folder, 'ledger.sqlite');
const jobId = 'job';
const pixels = 1920 * 1080;
/** The answer of a node for a frame, with a part that nobody reads. */
const place = { firstGroup: 3, groups: 1, start: 1_000_000, length: 1_500, checksum: 2 ** 31 };
const found = {
  part: '8c5e4f0a-3c38-4b0e-9d0e-6f6f5b1c2a7d',
  places: [{ sources: place, features: place }],
  found: 1,
  pixels,
  digest: new Uint8Array(32).fill(7),
  parts: [packSums(BigInt(pixels), new BigUint64Array(256).fill(BigInt(pixels / 256)))],
};

/** The steps of a shard with one frame. */
function stepsOf(index: number): PlanStep[] {
  const uri = `file:///archive/camera-07/2026-01-31/frame-${String(index).padStart(8, '0')}.jpg`;
  return batchSteps(index, [{ index, uri, name: uri.slice(-18, -4) }], pixels);
}

async function plan(ledger: LogLedger): Promise<void> {
  for (let index = 0; index < shards; ) {
    const steps: PlanStep[] = [];
    for (; steps.length < planSteps && index < shards; index++) steps.push(...stepsOf(index));
    await ledger.addPlan(jobId, steps, index === shards);
  }
}

async function commitFrom(ledger: LogLedger, from: number, to: number): Promise<void> {
  const node = { name: 'node-1', device: 'gpu' };
  let next = from;
  const commitSome = async (): Promise<void> => {
    while (next < to) {
      const shard = next++;
      await ledger.addAttempt(jobId, shard, 1);
      const answer = { results: [], found, errors: [], stageSeconds: { decode: 0.001 }, inputBytes: 1 };
      await ledger.commit({ jobId, shard, attempt: 1, epoch: ledger.epoch, node, ...answer });
    }
  };
  await Promise.all(Array.from({ length: unanswered }, commitSome));
}

async function timed<T>(what: string, act: () => Promise<T>): Promise<T> {
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  const result = await act();
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(before);
  const cpuSeconds = (user + system) / 1e6;
  const speed = Math.round(shards / seconds).toLocaleString('en');
  console.log(`${what}: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of processor time: ${speed} shards/s`);
  return result;
}

async function reopened<T>(act: (ledger: LogLedger) => Promise<T>): Promise<T> {
  const registry = await openRegistry(path);
  const ledger = await openLogLedger(folder, registry);
  const result = await act(ledger);
  await ledger.close();
  await registry.close();
  return result;
}

const resumed = (act: (ledger: LogLedger) => Promise<void>): Promise<void> =>
  reopened(async (ledger) => {
    await ledger.resume(jobId);
    await act(ledger);
  });

/** Bytes of all logs. */
async function logBytes(): Promise<number> {
  const names = await readdir(join(folder, jobId));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, jobId, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const memoryBytes = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

try {
  const bytesBefore = memoryBytes();
  await reopened(async (ledger) => {
    const operations = [{ kernel: 'lbp', parameters: {}, border: '' }];
    await ledger.createJob({ jobId, spec: JobSpec.fromPartial({ pipeline: { operations } }), submittedMs: 0 });
    await timed('plan', () => plan(ledger));
    console.log(`  memory: ${Math.round((memoryBytes() - bytesBefore) / shards)} bytes a shard`);
  });
  const planned = await timed('recover, nothing done', () =>
    reopened(async (ledger) => (await ledger.resume(jobId)).open),
  );
  if (planned.length !== shards) throw new Error(`${planned.length} shards are open`);
  planned.length = 0;
  console.log(`  logs: ${((await logBytes()) / shards).toFixed(1)} bytes a shard`);
  const half = Math.floor(shards / 2);
  await resumed((ledger) => timed('commit the first half', () => commitFrom(ledger, 0, half)));
  const rest = await timed('recover, half done', () => reopened(async (ledger) => (await ledger.resume(jobId)).open));
  if (rest.length !== shards - half) throw new Error(`${rest.length} shards are open`);
  rest.length = 0;
  await resumed((ledger) => timed('commit the second half', () => commitFrom(ledger, half, shards)));
  console.log(`  logs: ${((await logBytes()) / shards).toFixed(1)} bytes a shard`);
  const open = await timed('recover, all done', () =>
    reopened(async (ledger) => {
      const left = (await ledger.resume(jobId)).open;
      console.log(`  memory: ${Math.round((memoryBytes() - bytesBefore) / shards)} bytes a shard`);
      return left;
    }),
  );
  if (open.length !== 0) throw new Error(`${open.length} shards are open`);
} finally {
  await rm(folder, { recursive: true });
}
