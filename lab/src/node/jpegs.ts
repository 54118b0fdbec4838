// Measures what JPEG frames cost a node beside the work of the device, on its main thread and on all of its threads: it
// gets leases, reads files, has a device that answers at once, and answers.
//   npm run lab -- node-jpegs [FRAMES] [REPETITIONS]
// Frames are 1080p of a drawn scene, of quality 75, in the folder for temporary files: 32 different files, and links to
// them. Prints for each repetition microseconds of processor time a frame.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeFrames } from '@halogrid/bench/make-frames';
import { openScene } from '@halogrid/bench/scene';
import type { NodeDevice } from '@halogrid/gpu-node/devices';
import { openExecutor } from '@halogrid/gpu-node/executor';
import { AttachRequest, Lease, splitAnswer } from '@halogrid/proto';
import { localVersion } from '@halogrid/sources';
import { packSources } from '@halogrid/sources/pack-sources';
import { forEachLimited } from '@halogrid/threads';

const [frames = 8000, repetitions = 5] = process.argv.slice(2).map(Number);
const size = { width: 1920, height: 1080 };
const framesAShard = 64;

/** Counts as uneven as in a photograph. */
const bins = Uint32Array.from({ length: 256 }, (_, bin) => (bin * bin * 37) % 29_000);
const counted = bins.reduce((sum, count) => sum + count, 0);

/** A device with memory for eight batches, which answers at once. */
function instantDevice(): NodeDevice {
  const free = Array.from({ length: 8 }, (): Uint8Array => new Uint8Array(2 ** 25));
  const waiting: ((bytes: Uint8Array) => void)[] = [];
  const giveBack = (bytes: Uint8Array): void => {
    const next = waiting.shift();
    if (next) next(bytes);
    else free.push(bytes);
  };
  return {
    info: { kind: 'gpu', name: 'none', driver: '' },
    maxStagingBytes: 2 ** 30,
    batchBytes: 2 ** 26,
    batchesInFlight: 8,
    lost: new Promise(() => {}),
    jpegs: {
      maxBytes: 2 ** 25,
      batchBytes: 2 ** 27,
      prepare: async () => {},
      decode: async (_, { layout }) => {
        return { areFine: Array<boolean>(layout.fileCount).fill(true), seconds: { upload: 0, decode: 0 } };
      },
    },
    async acquire() {
      const bytes = free.pop() ?? (await new Promise<Uint8Array>((resolve) => waiting.push(resolve)));
      return { bytes, release: () => giveBack(bytes) };
    },
    async run(staging, items) {
      giveBack(staging.bytes);
      const found = items.map(() => ({ counted, bins: bins.slice() }));
      return { items: found as never, seconds: { upload: 0, compute: 0, readback: 0 } };
    },
    async close() {},
  };
}

const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
try {
  await makeFrames(join(folder, 'frames'), frames, size, { kind: 'jpg', quality: 75 }, await openScene(size));
  const names = (await readdir(join(folder, 'frames'))).toSorted();
  const sources = await Promise.all(
    names.map(async (name, index) => {
      const path = join(folder, 'frames', name);
      const status = await stat(path);
      const version = localVersion(status);
      return { index, uri: pathToFileURL(path).href, name, sizeBytes: status.size, version, pin: version };
    }),
  );
  const leases = Array.from({ length: Math.ceil(frames / framesAShard) }, (_, shard) =>
    Lease.encode(
      Lease.fromPartial({
        jobId: 'j',
        shard,
        attempt: 1,
        epoch: 1,
        scratch: pathToFileURL(folder).href,
        pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
        work: { $case: 'frames', value: {} },
        sources: packSources(sources.slice(shard * framesAShard, (shard + 1) * framesAShard)),
      }),
    ).finish(),
  );
  const executor = openExecutor({ device: instantDevice(), decode: 'gpu', note: console.error });
  for (let i = 0; i <= repetitions; i++) {
    const [all, main, startMs] = [process.cpuUsage(), process.threadCpuUsage(), performance.now()];
    let sentBytes = 0;
    await forEachLimited(leases, 12, async (bytes) => {
      const answer = await executor.execute(Lease.decode(bytes), new AbortController().signal);
      for (const report of splitAnswer(answer)) sentBytes += AttachRequest.encode({ report }).finish().length;
    });
    const each = ({ user, system }: { user: number; system: number }) => ((user + system) / frames).toFixed(1);
    const rate = frames / ((performance.now() - startMs) / 1000);
    // Threads start in the first turn.
    if (i === 0) continue;
    const own = [
      `main thread ${each(process.threadCpuUsage(main))}`,
      `all threads ${each(process.cpuUsage(all))} µs a frame`,
    ];
    console.log(
      `${own.join(', ')}; ${rate.toFixed(0)} frames/s, ${Math.round(sentBytes / frames)} bytes answered a frame`,
    );
  }
  await executor.close();
} finally {
  await rm(folder, { recursive: true });
}
