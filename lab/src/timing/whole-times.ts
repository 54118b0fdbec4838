import { type BenchImages, type KernelCase, type StagedCase, stageCase } from '@halogrid/bench/kernel-case';
import { type SamplingOptions, timeSamples } from '@halogrid/bench/take-samples';
import type { KernelTime } from '@halogrid/bench/time-strategies';
import { type DeviceKind, type NodeDevice, openDevice, openWebGpuDevice } from '@halogrid/gpu-node/devices';
import type { Strategy } from '@halogrid/kernels/gpu';

export interface WholeTimesOptions extends BenchImages, SamplingOptions {
  kind: DeviceKind;
  cases: readonly KernelCase[];
  /**
   * Images of a sample, whose time is that of all; 1 unless given. As many are in flight as the device has room for.
   */
  imagesPerSample?: number;
  /** Returns milliseconds; the clock of this process unless given. */
  clock?: () => number;
}

/**
 * Times one image from staging memory to results in the memory of this process: upload, kernels and readback. Rejects
 * with one sentence if there is no such device.
 */
export async function measureWholeTimes(options: WholeTimesOptions): Promise<{ device: string; rows: KernelTime[] }> {
  const { kind, cases } = options;
  const rows: KernelTime[] = [];
  let name = '';
  // A device compiles a pipeline once, so each strategy has a device of its own. Equal strategies have equal JSON.
  const strategies = new Map(cases.map(({ strategy }) => [JSON.stringify(strategy), strategy]));
  for (const [key, strategy] of strategies) {
    const device = await open(kind, strategy);
    name = device.info.name;
    try {
      for (const [i, one] of cases.entries()) {
        if (JSON.stringify(one.strategy) === key) rows[i] = await timeCase(device, one, options);
      }
    } finally {
      await device.close();
    }
  }
  return { device: name, rows };
}

async function open(kind: DeviceKind, strategy?: Strategy): Promise<NodeDevice> {
  if (!strategy || kind === 'cpu') return (await openDevice(kind)).device;
  return openWebGpuDevice(kind, { choose: () => strategy });
}

async function timeCase(device: NodeDevice, one: KernelCase, options: WholeTimesOptions): Promise<KernelTime> {
  const staged = stageCase(one, options);
  const { imagesPerSample: images = 1, clock = () => performance.now() } = options;
  const samplesMs = await timeSamples(options, (isWarmUp) => sample(device, staged, { images, clock }, isWarmUp));
  return { name: one.name, samplesMs };
}

/**
 * Milliseconds of `images` images. A single image is in staging memory before the clock starts. Several images are
 * copied there only by warm-ups, and stay: decoders write there directly, so a copy is not part of the time.
 */
async function sample(
  device: NodeDevice,
  staged: StagedCase,
  { images, clock }: { images: number; clock: () => number },
  isWarmUp: boolean,
): Promise<number> {
  const { pipeline, withMap, item, bytes } = staged;
  const acquire = async () => {
    const staging = await device.acquire(bytes.length);
    if (images === 1 || isWarmUp) staging.bytes.set(bytes);
    return staging;
  };
  const first = await acquire();
  const started = clock();
  const runs: Promise<void>[] = [];
  for (let i = 0; i < images; i++) {
    const staging = i === 0 ? first : await acquire();
    // Results are not kept: a hundred maps would fill the memory.
    const run = device.run(staging, [item], pipeline, withMap).then(() => {});
    // Promise.all below sees the error. Until then it is not unhandled.
    run.catch(() => {});
    runs.push(run);
  }
  await Promise.all(runs);
  return clock() - started;
}
