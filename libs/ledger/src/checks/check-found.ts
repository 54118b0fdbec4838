import { type ShardWork, sourcesIn } from '@halogrid/jobs/shard';
import { readVarints } from '@halogrid/proto/varints';
import { binsOfCell, evenChannels, type HistogramShape, mostCounts } from '@halogrid/results/histogram-shape';
import type { PartSums } from '@halogrid/results/part-sums';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { type FilePlace, isPartId, mostPartBytes } from '@halogrid/results/shard-place';
import type { ShardCommit } from '../ledger/ledger.ts';
import { checkErrors, InvalidResultError } from './check-answer.ts';

const digestBytes = 32;

/**
 * Checks a node's answer about the frames of a shard: each is found or has an error, once; every channel counts the
 * same pixels, at most the pixels of the frames, but bands and matrices may differ. The rows of the part are checked
 * when they are read. Throws InvalidResultError.
 */
export function checkFound(
  work: ShardWork,
  { found: said, results, errors }: Pick<ShardCommit, 'found' | 'results' | 'errors'>,
  shapes: readonly HistogramShape[],
): FoundInPart {
  if (results.length > 0) throw new InvalidResultError('There are results of tiles instead of frames');
  if (!said?.places || !isPartId(said.part ?? '')) throw new InvalidResultError('The answer names no part');
  checkErrors(work, errors);
  const { part = '', places, found, pixels, digest, parts } = said;
  const good = sourcesIn(work) - errors.length;
  if (found !== good) throw new InvalidResultError(`There are results of ${found} sources instead of ${good}`);
  if (!Number.isSafeInteger(pixels) || pixels < found) throw new InvalidResultError(`The frames have ${pixels} pixels`);
  if (digest.length !== digestBytes) throw new InvalidResultError(`The digest has ${digest.length} bytes`);
  if (parts.length !== shapes.length || places.length !== shapes.length) {
    throw new InvalidResultError(`There are results of ${parts.length} pipelines instead of ${shapes.length}`);
  }
  for (const [i, shape] of shapes.entries()) {
    const { sources, features } = places[i]!;
    checkPlace(sources);
    if ((features !== undefined) !== shape.bins > 0)
      throw new InvalidResultError('The answer has no place of histograms');
    if (features) checkPlace(features);
    checkSums(shape, parts[i]!, pixels);
  }
  return { part, places, found, pixels, digest, parts };
}

function checkPlace({ start, length }: FilePlace): void {
  const isIn = [start, length].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0);
  if (!isIn || start + length > mostPartBytes) {
    throw new InvalidResultError(`A part has no ${length} bytes from ${start} on`);
  }
}

function checkSums(shape: HistogramShape, { counted, sums }: PartSums, pixels: number): void {
  if (!/^\d{1,16}$/.test(counted) || Number(counted) > mostCounts(shape, pixels)) {
    throw new InvalidResultError(`${counted} of ${pixels} pixels are counted`);
  }
  const bins = new Float64Array(binsOfCell(shape));
  if (readVarints(sums, 0, bins) !== sums.length) {
    throw new InvalidResultError(`The sums are not for ${bins.length} bins`);
  }
  const even = evenChannels(shape);
  let ofBand = Number(counted);
  for (let channel = 0; shape.bins > 0 && channel < shape.channels; channel++) {
    const own = bins.subarray(channel * shape.bins, (channel + 1) * shape.bins).reduce((sum, count) => sum + count, 0);
    // The first channel of the first band counts what the answer says, the first one of another band what it may.
    if (channel > 0 && channel % even === 0 && own <= mostCounts(shape, pixels)) ofBand = own;
    if (own !== ofBand) throw new InvalidResultError(`${ofBand} pixels are counted but channel ${channel} has ${own}`);
  }
}
