import { cellSizeOf, createGpuProgram, type Strategy } from '@halogrid/kernels/gpu';
import { bufferUsage, mapMode } from '@halogrid/kernels/webgpu-flags';
import { type BenchImages, type KernelCase, type StagedCase, stageCase } from './kernel-case.ts';
import { type SamplingOptions, timeSamples, warmUps } from './take-samples.ts';
import { withTimedDevice } from './timed-device.ts';

/**
 * Bytes of images in rotation, and of results in rotation: twice the L2 cache of an H200 (50 MB), so that kernels read
 * and write memory.
 */
const rotationBytes = 100 * 2 ** 20;
/**
 * The most buffers of images, and of results. Small images then stay in the cache, but launching their kernels takes
 * longer than reading them.
 */
const maxRotation = 1024;

/**
 * An almost idle GPU lowers its clocks. Seen on an H200 and an H100: after some seconds of short samples with pauses
 * between them, kernels took 2 to 3 times as long, until a sample took a second.
 */
const gpuWarmUpMs = 250;

const { MAP_READ, COPY_SRC, COPY_DST, UNIFORM, STORAGE, QUERY_RESOLVE } = bufferUsage;

export interface TimingOptions extends SamplingOptions {
  /** Runs between two timestamps, enough to make the step of the clock negligible. */
  runsPerSample: number;
}

/**
 * Milliseconds of one image for each strategy of the last kernel, an array of repetitions each; undefined is the
 * default strategy. Strategies take turns, so that whatever slows the device down for a while slows all of them.
 */
export async function timeStrategies(
  device: GPUDevice,
  { pipeline, withMap, item, bytes, moreBytes, batch }: StagedCase,
  strategies: readonly (Strategy | undefined)[],
  options: TimingOptions,
): Promise<number[][]> {
  const last = pipeline.operations.at(-1);
  const items = Array.from({ length: batch }, (_, i) => ({ ...item, offset: item.offset + i * bytes.length }));
  const compiling = strategies.map(async (strategy) => {
    const program = await createGpuProgram(
      device,
      pipeline,
      { map: withMap, cells: cellSizeOf([item]) },
      (operation) => {
        return operation === last ? strategy : undefined;
      },
    );
    return { program, layout: program.layOut(items) };
  });
  const programs = await Promise.all(compiling);
  // All strategies have one layout of memory.
  const { mapsBytes, planesBytes, histogramsBytes, table: itemTable, tableBytes } = programs[0]!.layout;

  const made: GPUBuffer[] = [];
  const buffer = (label: string, size: number, usage: GPUBufferUsageFlags = STORAGE) => {
    const created = device.createBuffer({ label, size: Math.max(16, size), usage: usage | COPY_DST });
    made.push(created);
    return created;
  };
  const { runsPerSample } = options;
  const runs = (warmUps + options.repetitions) * runsPerSample;
  const rotation = (label: string, size: number, least = 2) => {
    // Without maps one small buffer is enough: creating a thousand takes longer than many a measurement.
    const wanted = size === 0 ? 1 : Math.max(least, Math.ceil(rotationBytes / size));
    return Array.from({ length: Math.min(wanted, runs, maxRotation) }, () => buffer(label, size));
  };
  const photos = [bytes, ...moreBytes];
  const inputs = rotation('bench.input', bytes.length * batch, Math.max(2, photos.length));
  const outputs = rotation('bench.output', mapsBytes);
  const between = planesBytes.map((size) => buffer('bench.planes', size));
  const histograms = buffer('bench.histograms', histogramsBytes);
  const table = buffer('bench.table', tableBytes, UNIFORM);
  for (const [i, input] of inputs.entries()) {
    for (let j = 0; j < batch; j++) device.queue.writeBuffer(input, j * bytes.length, photos[i % photos.length]!);
  }
  device.queue.writeBuffer(table, 0, itemTable);

  let run = 0;
  const samplesMs: number[][] = strategies.map(() => []);
  const ofAll = { ...options, withinMs: (options.withinMs ?? Infinity) * strategies.length };
  await timeSamples(ofAll, async (isWarmUp) => {
    let turnMs = 0;
    for (const [j, { program, layout }] of programs.entries()) {
      const ms = await sample(device, runsPerSample, (pass) => {
        const planes = [inputs[run % inputs.length]!, ...between];
        program.record(pass, layout, { planes, table, histograms, maps: outputs[run % outputs.length]! });
        run++;
      });
      turnMs += ms;
      if (!isWarmUp) samplesMs[j]!.push(ms / (runsPerSample * batch));
    }
    return turnMs;
  });
  for (const one of made) one.destroy();
  return samplesMs;
}

/** Milliseconds that `runs` runs take on the GPU. */
async function sample(device: GPUDevice, runs: number, record: (pass: GPUComputePassEncoder) => void): Promise<number> {
  const queries = device.createQuerySet({ label: 'bench.timestamps', type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({ label: 'bench.resolved', size: 16, usage: QUERY_RESOLVE | COPY_SRC });
  const readback = device.createBuffer({ label: 'bench.readback', size: 16, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder({ label: 'bench.sample' });
  const pass = encoder.beginComputePass({
    label: 'bench.kernels',
    timestampWrites: { querySet: queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
  });
  for (let run = 0; run < runs; run++) record(pass);
  pass.end();
  encoder.resolveQuerySet(queries, 0, 2, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, readback, 0, 16);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(mapMode.READ);
  const stamps = new BigUint64Array(readback.getMappedRange());
  const ms = Number(stamps[1]! - stamps[0]!) / 1e6;
  readback.unmap();
  for (const buffer of [resolved, readback]) buffer.destroy();
  queries.destroy();
  return ms;
}

/** Milliseconds of one run of a case on one image, a value for each repetition. */
export interface KernelTime {
  name: string;
  samplesMs: number[];
}

export interface KernelTimesOptions extends BenchImages, TimingOptions {
  kind: 'gpu' | 'software';
  cases: readonly KernelCase[];
}

/**
 * Times pipelines by the clock of the GPU. Strategies of one pipeline on the same images take turns. Rejects with one
 * sentence if a case cannot run.
 */
export function measureKernelTimes(options: KernelTimesOptions): Promise<{ device: string; rows: KernelTime[] }> {
  const timing = { ...options, warmUpMs: options.kind === 'gpu' ? gpuWarmUpMs : 0 };
  return withTimedDevice(options.kind, async (device, info, check) => {
    const rows: KernelTime[] = [];
    for (const together of casesByWork(options.cases)) {
      const [first] = together as [KernelCase];
      const strategies = together.map(({ strategy }) => strategy);
      const samplesMs = await timeStrategies(device, stageCase(first, options), strategies, timing);
      check(first.name);
      together.forEach((one, i) => {
        rows[options.cases.indexOf(one)] = { name: one.name, samplesMs: samplesMs[i]! };
      });
    }
    return { device: info.name, rows };
  });
}

/** Groups cases that differ only in the strategy (and the name). Cases on different images are in different groups. */
function casesByWork(cases: readonly KernelCase[]): KernelCase[][] {
  const images = [...new Set(cases.map((one) => one.images))];
  const groups = Map.groupBy(cases, ({ name: _, strategy: __, ...work }) =>
    JSON.stringify({ ...work, images: images.indexOf(work.images) }),
  );
  return [...groups.values()];
}
