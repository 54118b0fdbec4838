import { ParameterError } from '../kernel/parameter-error.ts';
import type { DenseResult, ItemResult } from '../kernel/plane-item.ts';
import type { Pipeline } from './pipeline.ts';
import type { PipelineItem } from './pipeline-item.ts';

/**
 * The same pipeline for several bands of images: each band is computed as gray, and results have its channels one band
 * after another. Whether a pixel counts may differ from band to band. One band is gray, and needs no other pipeline.
 * Throws ParameterError if several are asked for and the pipeline takes colours.
 */
export function overBands(bands: readonly number[], pipeline: Pipeline): Pipeline {
  if (bands.length < 2) return pipeline;
  const { input, output, words } = pipeline;
  if (input.length > 1)
    throw new ParameterError('the channels of a pipeline over several bands', input.join(' '), 'gray');
  const named = (names: readonly string[], join: (band: string, name: string) => string): string[] =>
    bands.flatMap((band) => names.map((name) => join(`band ${band}`, name)));
  const isOne = output.channels.length === 1;
  return {
    ...pipeline,
    bands,
    output: { ...output, channels: named(output.channels, (band, name) => (isOne ? band : `${band}, ${name}`)) },
    words: { ...words, channels: named(words.channels, (band, of) => `${of} of ${band}`) },
  };
}

/** The planes that a pipeline reads of an image: its channels, or its bands. */
export const planesRead = ({ input, bands }: Pick<Pipeline, 'input' | 'bands'>): number =>
  bands?.length ?? input.length;

/** The pipeline as a device computes it for each band, which needs no words. */
export function ofOneBand({ bands, ...pipeline }: Pipeline): Pipeline {
  return bands ? { ...pipeline, output: pipeline.operations.at(-1)!.output } : pipeline;
}

/** An item for each band that a pipeline reads: its plane of the item, and the pixels that are excluded in it. */
export function itemsOfBands({ bands }: Pick<Pipeline, 'bands'>, item: PipelineItem): PipelineItem[] {
  if (!bands) return [item];
  const { excludedInBands, ...others } = item;
  return bands.map((_, band) => {
    const excluded = excludedInBands?.[band];
    return { ...others, offset: item.offset + band * item.planeBytes, ...(excluded && { excluded }) };
  });
}

/**
 * The result of an item from the results of its bands, in order: `counted` is what the first band counts. Dense results
 * are copied.
 */
export function joinBands(
  { bins, output }: Pick<Pipeline, 'bins' | 'output'>,
  results: readonly ItemResult[],
): ItemResult {
  const [first] = results as [ItemResult];
  if (results.length === 1) return first;
  const { counted, map } = first;
  const joined = new Uint32Array(results.length * first.bins.length);
  const ofBand = (bins * output.channels.length) / results.length;
  for (let cell = 0; cell * ofBand < first.bins.length; cell++) {
    for (const [band, { bins: own }] of results.entries()) {
      joined.set(own.subarray(cell * ofBand, (cell + 1) * ofBand), (cell * results.length + band) * ofBand);
    }
  }
  const channels = output.channels.length / results.length;
  return {
    counted,
    bins: joined,
    ...(map && {
      map: joinMaps(
        results.map((result) => result.map!),
        channels,
      ),
    }),
  };
}

/** Dense results of equal form one after another, each of `channels` channels. */
function joinMaps(maps: readonly DenseResult[], channels: number): DenseResult {
  const [first] = maps as [DenseResult];
  // If there is one channel, its form says nothing about the next one.
  const each = channels > 1 ? channels * first.bandBytes : Math.max(...maps.map(({ bytes }) => bytes.length));
  const joined = new Uint8Array(maps.length * each);
  for (const [i, { bytes }] of maps.entries()) joined.set(bytes.subarray(0, each), i * each);
  return { ...first, bytes: joined, bandBytes: each / channels };
}
