import { createPipeline, placeItem, planRead, type Size } from '@halogrid/kernels';
import { createGpuProgram, type GpuOutput, itemTableBytes, packItems, placeMaps } from '@halogrid/kernels/gpu';
import { openAdapter } from '../devices/webgpu-adapter.ts';

/** What one program takes: milliseconds of one run on one image, a repetition each. */
export interface KernelTime {
  name: string;
  samplesMs: number[];
}

export interface KernelTimesOptions {
  kind: 'gpu' | 'software';
  size: Size;
  /** Timed samples. */
  repetitions: number;
  /** Runs between two timestamps, so that the clock's step does not matter. */
  runsPerSample: number;
}

/** Inputs in rotation: more than fit an L2 cache (50 MB on an H200), so that memory is what is measured. */
const inputCount = 8;

// GPUBufferUsage, whose global exists only after Dawn is loaded.
const COPY_SRC = 0x4;
const COPY_DST = 0x8;
const UNIFORM = 0x40;
const STORAGE = 0x80;

/** Times the kernels by the GPU's own clock on random pixels. */
export async function measureKernelTimes(options: KernelTimesOptions): Promise<{ device: string; rows: KernelTime[] }> {
  const { adapter, info } = await openAdapter(options.kind);
  if (!adapter.features.has('timestamp-query')) throw new Error(`${info.name} has no timestamp queries`);
  const device = await adapter.requestDevice({ requiredFeatures: ['timestamp-query'] });

  const { size } = options;
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }], 'interior');
  const { item, end } = placeItem(planRead({ x: 0, y: 0, ...size }, size, pipeline.halo, pipeline.border), 0);
  const { places, bytes: mapBytes } = placeMaps([item]);
  const buffer = (label: string, bytes: number) =>
    device.createBuffer({ label, size: Math.ceil(bytes / 16) * 16, usage: STORAGE | COPY_SRC | COPY_DST });
  const inputs = Array.from({ length: inputCount }, (_, i) => buffer(`bench.input${i}`, end));
  const random = new Uint32Array(Math.ceil(end / 4));
  let state = 1;
  for (let i = 0; i < random.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    random[i] = state;
  }
  for (const input of inputs) device.queue.writeBuffer(input, 0, random);
  const items = device.createBuffer({ label: 'bench.items', size: itemTableBytes, usage: UNIFORM | COPY_DST });
  device.queue.writeBuffer(items, 0, packItems([item], places));
  const histograms = buffer('bench.histograms', 4 * pipeline.bins);
  const outputs = inputs.map((_, i) => buffer(`bench.output${i}`, mapBytes));

  const rows: KernelTime[] = [];
  const time = async (name: string, record: (pass: GPUComputePassEncoder, run: number) => void) => {
    const samplesMs: number[] = [];
    for (let i = -2; i < options.repetitions; i++) {
      const ms = await sample(device, options.runsPerSample, record);
      if (i >= 0) samplesMs.push(ms / options.runsPerSample);
    }
    rows.push({ name, samplesMs });
  };

  const outputKinds: [GpuOutput, string][] = [
    ['map', 'LBP map'],
    ['histogram', 'LBP histogram'],
    ['both', 'LBP map and histogram'],
  ];
  for (const [output, name] of outputKinds) {
    const program = await createGpuProgram(device, pipeline, output);
    await time(name, (pass, run) => {
      const planes = inputs[run % inputCount]!;
      program.record(pass, { planes, items, histograms, maps: outputs[run % inputCount]! }, [item]);
    });
  }
  device.destroy();
  return { device: info.name, rows };
}

/** Milliseconds that `runs` runs take on the GPU. */
async function sample(
  device: GPUDevice,
  runs: number,
  record: (pass: GPUComputePassEncoder, run: number) => void,
): Promise<number> {
  const queries = device.createQuerySet({ type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({ size: 16, usage: 0x200 | COPY_SRC });
  const readback = device.createBuffer({ size: 16, usage: 0x1 | COPY_DST });
  const encoder = device.createCommandEncoder({ label: 'bench.sample' });
  const pass = encoder.beginComputePass({
    timestampWrites: { querySet: queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
  });
  for (let run = 0; run < runs; run++) record(pass, run);
  pass.end();
  encoder.resolveQuerySet(queries, 0, 2, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, readback, 0, 16);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(1);
  const stamps = new BigUint64Array(readback.getMappedRange());
  const ms = Number(stamps[1]! - stamps[0]!) / 1e6;
  readback.unmap();
  for (const buffer of [resolved, readback]) buffer.destroy();
  queries.destroy();
  return ms;
}
