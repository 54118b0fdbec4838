import { type SampleType, sampleBytes } from '@halogrid/geometry';
import { compileKernel, type GpuKernel, type GpuOutput } from '../kernel/gpu/gpu-kernel.ts';
import type { GpuHost, Strategy } from '../kernel/gpu/strategy.ts';
import type { Operation } from '../kernel/operation.ts';
import { readText } from '../kernel/read-beside.ts';
import { lbpLabels } from './labels.ts';
import type { LbpRing } from './parameters.ts';
import { ringCodes } from './ring-codes.ts';
import { placeOf } from './taps.ts';

const code = readText(new URL('./ring.wgsl', import.meta.url));

/** The constants COLUMNS, ROWS and STEPS of ring.wgsl. */
const columns = 64;
const rows = 4;
const steps = 4;
/** Words of workgroup memory that every device has. */
const workgroupWords = 4096;
/** The most copies of a histogram: adding up more copies takes longer than lanes wait with fewer. */
const maxCopies = 8;
/** Words of histograms in workgroup memory: with more, too few workgroups are at work at once. */
const maxHistogramWords = 1024;
/**
 * The least words of a histogram: with fewer, labels that other tiles count in workgroup memory would move to global
 * memory.
 */
const leastHistogramWords = 256;
/** Words of a `Neighbour` of ring.wgsl. */
const neighbourWords = 4;

/** LBP of any ring. */
export const ringOnGpu: GpuHost<LbpRing> = {
  variant: ({ settings: { points, halo, labels }, reads }) => {
    return `ring-${points}-halo-${halo}-${labels}${reads === 'u16' ? '-of-u16' : ''}`;
  },
  strategies: ({ settings }) => strategiesOf(settings),
  compile: compileRing,
};

/** Tiles of 8, 16 or 4 rows, if they fit with their histogram. A wide halo leaves room for fewer. */
function strategiesOf(ring: LbpRing): Strategy[] {
  const fitting = [2, 4, 1].filter((blocks) => freeWordsOf(ring, blocks) >= leastHistogramWords);
  // Labels follow from integers. Variances are sums of f32, which another program may round differently.
  const isExact = ring.labels !== 'var';
  return fitting.map((blocks, i) => {
    return { name: 'workgroup', lanes: { width: columns, height: blocks }, isExact: isExact || i === 0 };
  });
}

/** Words of workgroup memory that tiles of 4 * `blocks` rows leave for histograms. */
function freeWordsOf({ halo, sample }: LbpRing, blocks: number): number {
  const before = Math.ceil(halo / 4) * 4;
  const tileColumns = Math.ceil((before + columns + halo) / 4) * 4;
  const columnVectors = Math.ceil((rows * blocks + 2 * halo) / 4) | 1;
  return workgroupWords - 4 * tileColumns * columnVectors - packedWordsOf(sample, columns * blocks);
}

const packedWordsOf = (sample: SampleType, lanes: number): number => {
  return sampleBytes[sample] < 4 ? lanes * sampleBytes[sample] : 1;
};

function compileRing(
  device: GPUDevice,
  { settings: ring, border, reads = 'u8' }: Operation<LbpRing>,
  output: GpuOutput,
  { name, lanes }: Strategy,
): Promise<GpuKernel> {
  const { halo, points, labels, isStrict, nonUniform, bins } = ring;
  const blocks = lanes.height;
  return compileKernel(device, {
    label: `lbp.ring.${name}.${output}`,
    code: `${code}\n${ringCodes(ring)}`,
    entryPoint: labels === 'var' ? 'variances' : 'labels',
    output,
    border,
    reads,
    constants: {
      BLOCKS: blocks,
      HALO: halo,
      POINTS: points,
      SAMPLE_BYTES: sampleBytes[ring.sample],
      ...(labels !== 'var' && {
        STRICT: Number(isStrict),
        LABELS: lbpLabels.indexOf(labels),
        NON_UNIFORM_FIRST: Number(nonUniform === 'first'),
      }),
      ...(output !== 'map' && { BINS: bins, ...privateBins(ring, freeWordsOf(ring, blocks)) }),
    },
    groupPixels: { width: columns * steps, height: rows * blocks },
    table: neighbourTable(ring),
  });
}

/** The labels that are counted in workgroup memory: all if they fit, otherwise the label of flat areas. */
function privateBins({ bins, points, isStrict }: LbpRing, freeWords: number) {
  const words = Math.min(maxHistogramWords, freeWords);
  const isFew = bins <= words;
  const count = isFew ? bins : 1;
  const copies = Math.min(maxCopies, 2 ** Math.floor(Math.log2(words / count)));
  return { FIRST_PRIVATE: isFew || isStrict ? 0 : 2 ** points - 1, PRIVATE_BINS: count, COPIES: copies };
}

/** The table of neighbours of ring.wgsl. */
function neighbourTable({ neighbours }: LbpRing): Int32Array<ArrayBuffer> {
  const words = new Int32Array(neighbourWords * 24);
  neighbours.forEach((neighbour, i) => {
    const { left, top, right, down } = placeOf(neighbour);
    words.set([left, top, right, down], i * neighbourWords);
  });
  return words;
}
