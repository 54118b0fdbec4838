import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from '@halogrid/bench/random';
import { createPipeline, specifiedOperations } from '@halogrid/kernels';
import { FeatureWriter } from '@halogrid/results/features';
import { resultsVersion } from '@halogrid/service';

/** Counted pixels of a made frame: 640 x 360 without a border of one pixel. */
const counted = 638 * 358;

/**
 * Writes the files that an index reads of a job with that many frames. The histograms, of lbp or ldp, drift over time
 * like the histograms of a camera, with noise. All frames count equally many pixels.
 */
export async function makeFeatures(out: string, kernel: 'lbp' | 'ldp', frames: number): Promise<void> {
  const pipeline = createPipeline([{ kernel, parameters: {} }]);
  const { bins, output } = pipeline;
  const channels = output.channels.length;
  const noise = randomBytes(2 ** 20 + 1, 1);
  let at = 0;
  const random = (): number => noise[at++ % noise.length]! / 256;
  const weights = Float64Array.from({ length: bins }, (_, bin) => 1 / (1 + ((bin * 37) % bins) ** 0.9));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const drifts = weights.map(() => 0.6 * random());
  const histogram = new Uint32Array(channels * bins);
  const writer = await FeatureWriter.create(join(out, 'features.parquet'), {
    grid: { rows: 1, columns: 1 },
    bins: histogram.length,
  });
  for (let frame = 0; frame < frames; frame++) {
    const phase = Math.sin(frame / 2000);
    for (let channel = 0; channel < channels; channel++) {
      let left = counted;
      for (let bin = 1; bin < bins; bin++) {
        const share = (weights[bin]! / sum) * (1 + drifts[bin]! * phase + 0.1 * random());
        const count = Math.min(left, Math.floor(0.7 * counted * share));
        histogram[channel * bins + bin] = count;
        left -= count;
      }
      histogram[channel * bins] = left;
    }
    const source = `file:///archive/camera-1/frame-${String(frame).padStart(9, '0')}.jpg`;
    const none = { timestampMs: null, capturedAtMs: null, camera: null };
    await writer.add({ number: frame, source, name: `frame-${frame}`, frame: 0, ...none }, [{ counted, histogram }]);
  }
  await writer.finish(frames);
  const specification = { sources: ['file:///archive'], pipeline: { operations: specifiedOperations(pipeline) } };
  const job = { id: 'made', state: 'complete', digest: 'made', resultsVersion, specification };
  await writeFile(join(out, 'job.json'), JSON.stringify(job));
}
