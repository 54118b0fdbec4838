import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type DecodeChoice, decodeChoices } from '@halogrid/gpu-node/decode-choice';
import { openDevice } from '@halogrid/gpu-node/devices';
import { type OpenExecutor, openExecutor } from '@halogrid/gpu-node/executor';
import { Lease } from '@halogrid/proto';
import { localVersion } from '@halogrid/sources';
import { packSources } from '@halogrid/sources/pack-sources';
import { forEachLimited } from '@halogrid/threads';

/** Bytes of decoded frames in a shard, as planners cut archives. */
const shardBytes = 2 ** 27;
/** Shards that the node has at once; it works on fewer. */
const shardsAtOnce = 16;
/**
 * A node works this long before it is timed: the GPU has lowered its clock while the cores had their turn.
 */
const warmUpMs = 500;

export interface FedNodeOptions {
  device: 'gpu' | 'software';
  /** A folder of frames whose names are numbers. */
  folder: string;
  names: readonly string[];
  frameBytes: number;
  repetitions: number;
  /** Values of `--decode`, in turns; all unless given. */
  decodes?: readonly DecodeChoice[];
}

/** Rates of a node, a value for each repetition. */
export interface FedNodeRates {
  decode: DecodeChoice;
  /** Frames a second. */
  rates: number[];
  /** Seconds of processor time in a second: cores at work. */
  coreSeconds: number[];
}

/**
 * Gives a node leases of frames, in this process and without a coordinator. The node reads files, decodes, computes and
 * writes parts. The values of `--decode` take turns.
 */
export async function timeFedNode(
  { device: kind, folder, names, frameBytes, repetitions, decodes = decodeChoices }: FedNodeOptions,
  note: (line: string) => void,
): Promise<FedNodeRates[]> {
  const leases = await leasesOf(folder, names, Math.max(1, Math.floor(shardBytes / frameBytes)));
  const { device } = await openDevice(kind);
  const measured = decodes.map((decode) => ({
    decode,
    rates: [] as number[],
    coreSeconds: [] as number[],
    executor: openExecutor({ device, decode, note }),
  }));
  const feed = (executor: OpenExecutor, untilMs = Number.POSITIVE_INFINITY) =>
    forEachLimited(leases, shardsAtOnce, async (lease) => {
      if (performance.now() > untilMs) return;
      const { errors } = await executor.execute(lease, new AbortController().signal);
      if (errors[0]) throw new Error(`A frame has no result: ${errors[0].error}`);
    });
  try {
    for (let i = -1; i < repetitions; i++) {
      for (const { decode, rates, coreSeconds, executor } of measured) {
        if (i >= 0) await feed(executor, performance.now() + warmUpMs);
        const before = process.cpuUsage();
        const startMs = performance.now();
        await feed(executor);
        const seconds = (performance.now() - startMs) / 1000;
        const { user, system } = process.cpuUsage(before);
        // The first turn reads files from the disk and compiles shaders.
        if (i < 0) continue;
        rates.push(names.length / seconds);
        coreSeconds.push((user + system) / 1e6 / seconds);
        note(`${i + 1} of ${repetitions}, ${decode}: ${rates.at(-1)!.toFixed(0)} frames/s`);
      }
    }
  } finally {
    for (const { executor } of measured) await executor.close();
    await device.close();
    await rm(join(folder, 'parts'), { recursive: true, force: true });
  }
  return measured;
}

async function leasesOf(folder: string, names: readonly string[], frames: number): Promise<Lease[]> {
  const sources = await Promise.all(
    names.map(async (name, index) => {
      const path = join(folder, name);
      const status = await stat(path);
      const version = localVersion(status);
      return { index, uri: pathToFileURL(path).href, name, sizeBytes: status.size, version, pin: version };
    }),
  );
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
  return Array.from({ length: Math.ceil(sources.length / frames) }, (_, shard) =>
    Lease.fromPartial({
      jobId: 'fed',
      shard,
      attempt: 1,
      epoch: 1,
      pipeline,
      scratch: pathToFileURL(folder).href,
      work: { $case: 'frames', value: {} },
      sources: packSources(sources.slice(shard * frames, (shard + 1) * frames)),
    }),
  );
}
