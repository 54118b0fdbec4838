// Measures what frames cost a node beside their pixels, on its main thread and on all of its threads: it gets leases,
// places frames, has a device that counts at once, writes parts, and answers.
//   npm run lab -- node-counts [FRAMES] [REPETITIONS] [SHARDS]
// A shard has 128 frames of 256 bins. The node computes SHARDS shards at once (4 unless given), beside the shards that
// wait in a part. No file is read. Prints for each repetition microseconds of processor time a frame.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DecoderPool } from '@halogrid/imaging';
import { AttachRequest, Lease, splitAnswer } from '@halogrid/proto';
import { PartThread } from '@halogrid/results/part-thread';
import { packSources } from '@halogrid/sources/pack-sources';
import { forEachLimited } from '@halogrid/threads';
import type { NodeDevice } from '../../../apps/gpu-node/src/devices/device.ts';
import { spareCollector } from '../../../apps/gpu-node/src/devices/runtime.ts';
import { createExecutor } from '../../../apps/gpu-node/src/executor/executor.ts';
import { RawFeed } from '../../../apps/gpu-node/src/feed/raw-feed.ts';
import { openJobParts } from '../../../apps/gpu-node/src/parts/job-parts.ts';
import { NodeParts } from '../../../apps/gpu-node/src/parts/node-parts.ts';

const [frames = 200_000, repetitions = 5, shardsAtOnce = 4] = process.argv.slice(2).map(Number);
const size = { width: 1920, height: 1080 };
const framesAShard = 128;
const costBytes = framesAShard * size.width * size.height;

/** Counts as uneven as in a photograph; their sum is the number of pixels that LBP counts. */
const bins = Uint32Array.from({ length: 256 }, (_, bin) => (bin * bin * 37) % 14_000);
const counted = (size.width - 2) * (size.height - 2);
bins[0] = 0;
bins[0] = counted - bins.reduce((sum, count) => sum + count, 0);
/** Each frame has different counts, so that compression is not better than with real frames. */
const ofBatch = new Uint32Array(framesAShard * bins.length);
for (let frame = 0; frame < framesAShard; frame++) {
  const own = ofBatch.subarray(frame * bins.length, (frame + 1) * bins.length);
  own.set(bins);
  for (let bin = 1; bin < own.length; bin++) {
    const moved = (frame * 7_919 + bin * 104_729) % (own[bin]! + 1);
    own[bin]! -= moved;
    own[bin - 1]! += moved;
  }
}

/** A device that answers every batch at once, without a look at it. */
const device: NodeDevice = {
  info: { kind: 'gpu', name: 'none', driver: '' },
  maxStagingBytes: 2 ** 30,
  batchBytes: 2 ** 26,
  batchesInFlight: 8,
  lost: new Promise(() => {}),
  acquire: async () => ({ bytes: new Uint8Array(0), release: () => {} }),
  async run(_, items) {
    const counts = ofBatch.slice();
    const found = items.map((__, i) => ({ counted, bins: counts.subarray(i * bins.length, (i + 1) * bins.length) }));
    return { items: found, seconds: { upload: 0, compute: 0, readback: 0 } };
  },
  async close() {},
};

/** A feed that reports the plane of every file as read. */
const rawFeed = new RawFeed(
  {
    async read(files) {
      const words = files.flatMap((_, nth) => [nth, size.width, size.height, 0]);
      return { done: files.length, taken: Uint32Array.from(words), inputBytes: 0 };
    },
    async close() {},
  },
  0,
);

// A device does this once it has given out some memory.
spareCollector(2 ** 26);

const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
const thread = new PartThread();
const parts = new NodeParts((lease) => openJobParts(thread, lease));
const decoders = new DecoderPool({ processes: 1 });
try {
  const leases = Array.from({ length: Math.ceil(frames / framesAShard) }, (_, shard) => {
    const sources = Array.from({ length: framesAShard }, (__, i) => {
      const index = shard * framesAShard + i;
      const version = `2073617 ${1_700_000_000_000 + 40 * index}`;
      const uri = `file:///archive/camera-07/frame-${String(index).padStart(8, '0')}.pgm`;
      return { index, uri, name: `frame-${index}`, sizeBytes: 2_073_617, version, pin: version };
    });
    return Lease.encode(
      Lease.fromPartial({
        jobId: 'j',
        shard,
        attempt: 1,
        epoch: 1,
        scratch: pathToFileURL(folder).href,
        costBytes,
        pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
        work: { $case: 'frames', value: {} },
        sources: packSources(sources),
      }),
    ).finish();
  });
  const execute = createExecutor({
    device,
    twin: device,
    rawFeed,
    decoders,
    parts,
    nowMs: () => performance.now(),
    openImage: () => Promise.reject(new Error('No file is opened')),
    writeChunk: () => Promise.reject(new Error('No chunk is written')),
  });
  for (let i = 0; i <= repetitions; i++) {
    const [all, main, startMs] = [process.cpuUsage(), process.threadCpuUsage(), performance.now()];
    let sentBytes = 0;
    const written = new Set<string | undefined>();
    const send = (report: AttachRequest['report']): void => {
      sentBytes += AttachRequest.encode({ report }).finish().length;
    };
    const answers: Promise<void>[] = [];
    await forEachLimited(leases, shardsAtOnce, (bytes) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const lease = Lease.decode(bytes);
      const { jobId, shard, attempt, epoch } = lease;
      const inPart = (): void => {
        send({ $case: 'inPart', value: { jobId, shard, attempt, epoch } });
        resolve();
      };
      const answered = execute(lease, new AbortController().signal, inPart).then((answer) => {
        written.add(answer.found?.part);
        for (const report of splitAnswer(answer)) send(report);
      });
      answers.push(answered.finally(resolve));
      return promise;
    });
    await Promise.all(answers);
    const each = ({ user, system }: { user: number; system: number }) => ((user + system) / frames).toFixed(2);
    const seconds = (performance.now() - startMs) / 1000;
    const own = [
      `main thread ${each(process.threadCpuUsage(main))}`,
      `all threads ${each(process.cpuUsage(all))} µs a frame`,
    ];
    // Threads start in the first turn.
    if (i === 0) continue;
    const rate = (count: number) => (count / seconds).toFixed(0);
    const rates = `${rate(frames)} frames/s, ${rate(written.size)} parts/s`;
    console.log(`${own.join(', ')}; ${rates}, ${(sentBytes / frames).toFixed(1)} bytes answered a frame`);
  }
} finally {
  await parts.close();
  await thread.end();
  await rm(folder, { recursive: true });
}
