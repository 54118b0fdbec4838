import { GpuClock, type GpuScan } from '@halogrid/search';

/**
 * Adds up all words, so that no compiler leaves a read out. Neighbouring lanes read neighbouring words.
 */
const shader = `
@group(0) @binding(0) var<storage, read> words: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(256)
fn read_all(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  var sum = vec4u();
  let step = groups.x * 256;
  for (var i = id.x; i < arrayLength(&words); i += step) { sum += words[i]; }
  if (sum.x + sum.y + sum.z + sum.w == 1) { sums[0] = 1; }
}`;

/** Number of workgroups: some for each multiprocessor of a large GPU. */
const groups = 132 * 32;

/**
 * Seconds of the device's clock for reading its whole index once, a value for each repetition. No search of the whole
 * index is faster. Rejects if the device has no clock.
 */
export async function readOnce({ memory, shelves }: GpuScan, repetitions: number): Promise<number[]> {
  const { device } = memory;
  const module = device.createShaderModule({ label: 'read-once', code: shader });
  const pipeline = await device.createComputePipelineAsync({
    label: 'read-once',
    layout: 'auto',
    compute: { module, entryPoint: 'read_all' },
  });
  const sums = memory.take('sums', 4);
  const bound = shelves.map(({ bins }) => {
    const entries = [bins, sums].map((buffer, binding) => ({ binding, resource: { buffer } }));
    return device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  });
  const clock = new GpuClock(memory);
  const times: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const encoder = device.createCommandEncoder({ label: 'read-once' });
    const pass = encoder.beginComputePass({ label: 'read-once', ...clock.around });
    pass.setPipeline(pipeline);
    for (const group of bound) {
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(groups);
    }
    pass.end();
    await clock.read(encoder, sums, 4);
    if (clock.seconds === undefined) throw new Error('The device has no clock');
    times.push(clock.seconds);
  }
  return times;
}
