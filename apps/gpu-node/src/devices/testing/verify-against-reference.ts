// Shared by the tests of devices.
import assert from 'node:assert/strict';
import { type BitPlane, createBitPlane, type PixelType, type Size, setBit } from '@halogrid/geometry';
import {
  type AskedOperation,
  excludedPixels,
  type Grid,
  type ItemResult,
  type Pipeline,
  type PipelineItem,
  runReference,
} from '@halogrid/kernels';
import {
  createPipelineOver,
  noise,
  noiseFor,
  samplesOf,
  stageTile,
  tileArbitrary,
  verifyBins,
  verifySamples,
} from '@halogrid/kernels/testing';
import { repeated, sampled } from '@halogrid/testing';
import fc from 'fast-check';
import type { NodeDevice } from '../device.ts';
import { testedKind } from './tested-kind.ts';

export { testedKind };

/** Computes one item that lies in `bytes`. */
export async function runOne(
  device: NodeDevice,
  pipeline: Pipeline,
  bytes: Uint8Array,
  item: PipelineItem,
  withMap = true,
): Promise<ItemResult> {
  const staging = await device.acquire(bytes.length);
  staging.bytes.set(bytes);
  return (await device.run(staging, [item], pipeline, withMap)).items[0]!;
}

/** A pipeline that a device is tested with. */
export interface TestVariant {
  operations: AskedOperation[];
  withMap: boolean;
  grid?: Grid;
  /** Default: u8. */
  pixel?: PixelType;
  /** Whether tiles have pixels without a value, and masked ones; some have none. */
  excludes?: true;
}

/**
 * SwiftShader takes one to two seconds of a core to compile a variant. Unless more is asked for, it tries this many
 * variants of a list, others in each run, and each this many times.
 */
const fewVariants = 2;
const fewRuns = 2;

/** The variants to try, and how often to try each. */
function triesOf(variants: readonly TestVariant[], runs: { gpu: number; software: number }) {
  const each = Math.ceil(runs[testedKind] / variants.length);
  if (testedKind === 'gpu') return { tried: variants, numRuns: each };
  return { tried: sampled(variants, fewVariants), numRuns: repeated(fewRuns, each) };
}

/**
 * Verifies with fast-check that batches of tiles, of any size and place in images of noise, have the counts and the
 * dense results of the reference. `runs`: tries for all variants together, on a GPU or with HALOGRID_THOROUGH=1.
 * Variants are verified in parallel, so that kernels compile on all cores.
 */
export async function verifyAgainstReference(
  device: NodeDevice,
  variants: readonly TestVariant[],
  runs: { gpu: number; software: number },
): Promise<void> {
  const { tried, numRuns } = triesOf(variants, runs);
  await Promise.all(tried.map((variant) => fc.assert(propertyOf(device, variant), { numRuns })));
}

function propertyOf(device: NodeDevice, variant: TestVariant) {
  const { operations, withMap, grid, pixel = 'u8', excludes } = variant;
  const tiles = fc.array(tileArbitrary(90, 40), { minLength: 1, maxLength: 6 });
  // The variant is said with what fails.
  return fc.asyncProperty(tiles, fc.constant(variant), async (tiles, _) => {
    const pipeline = createPipelineOver(pixel, operations);
    let end = 0;
    const placed = tiles.map(({ size, tile, seed, levels }) => {
      const one = stageTile(pipeline, noiseFor(pipeline, size, seed, levels), tile, grid, end);
      end = one.end;
      if (excludes) exclude(pipeline, one.item, seed);
      return { ...one, tile };
    });
    // Noise between the tiles, so that a kernel that reads there is caught.
    const bytes = noise(end, 977);
    for (const { fill } of placed) fill(bytes);
    const staging = await device.acquire(end);
    staging.bytes.set(bytes);
    const items = placed.map(({ item }) => item);
    const result = await device.run(staging, items, pipeline, withMap);
    placed.forEach(({ item, tile }, i) => {
      const reference = runReference(pipeline, bytes, item, withMap);
      const ours = result.items[i]!;
      assert.equal(ours.counted, reference.counted);
      verifyBins(ours.bins, reference.bins, pipeline);
      if (withMap) verifySamples(samplesOf(pipeline, ours, tile), samplesOf(pipeline, reference, tile), pipeline);
    });
  });
}

/** Excludes pixels of an item: of every third item none, of the others one of 8 or of 100. */
function exclude(pipeline: Pipeline, item: PipelineItem, seed: number): void {
  const { stored } = item.stages[0]!;
  const oneIn = [0, 8, 100][Math.abs(seed) % 3]!;
  const planes = { noData: scattered(stored, seed, 4 * oneIn), masked: scattered(stored, seed + 1, oneIn) };
  const excluded = excludedPixels(pipeline, item.stages, planes);
  if (excluded) item.excluded = excluded;
}

/** A plane in which about one bit of that number is set; none if it is 0. */
function scattered(size: Size, seed: number, oneIn: number): BitPlane {
  const plane = createBitPlane(size);
  const picks = noise(size.width * size.height * 2, seed);
  for (let i = 0; oneIn > 0 && i < size.width * size.height; i++) {
    if ((picks[2 * i]! * 256 + picks[2 * i + 1]!) % oneIn === 0)
      setBit(plane, i % size.width, Math.floor(i / size.width));
  }
  return plane;
}
