import { Refusal } from '@halogrid/jobs/refusal';
import { FeatureReader } from '@halogrid/results/feature-reader';
import { PlaceError, placeAt } from '@halogrid/results/place';
import { allowedPlace } from './allowed-place.ts';
import type { Orders } from './orders.ts';

/**
 * Reads `count` histograms from row `first` on of a features.parquet, a file or a folder. Anybody who can write its
 * folder may have forged it. Rejects with Refusal, or with PlaceError if a bucket cannot be read.
 */
export async function readHistograms({ features, first, count }: Orders['histograms']['order']): Promise<number[][]> {
  const path = await allowedPlace(features);
  try {
    const reader = await readerOf(path);
    if (!reader) throw new Refusal('missing', 'The job kept no histogram of it');
    const histograms = [];
    for (let row = first; row < first + count; row++) histograms.push(Array.from(await reader.histogram(row)));
    return histograms;
  } catch (error) {
    if (error instanceof Refusal || error instanceof PlaceError) throw error;
    throw new Refusal('unmet', 'The features.parquet of the job is damaged, or was changed: run the job again');
  }
}

/** The reader of the last file: a page asks for the same file repeatedly, and opening a folder reads all footers. */
let last: { path: string; version: string | undefined; reader: Promise<FeatureReader | undefined> } | undefined;

async function readerOf(path: string): Promise<FeatureReader | undefined> {
  const version = await versionOf(path);
  if (last?.path === path && last.version === version) return last.reader;
  const reader = FeatureReader.open(path);
  const opened = { path, version, reader };
  last = opened;
  // A failure is not kept: opening may succeed the next time.
  reader.catch(() => {
    if (last === opened) last = undefined;
  });
  return reader;
}

/** A text that differs for other files: that of the file or, if it is a folder, that of its first file. */
async function versionOf(path: string): Promise<string | undefined> {
  const place = placeAt(path);
  const file = await place.file();
  if (file) return file.version;
  const [first] = (await place.entries()) ?? [];
  return first && (await place.in(first.name).file())?.version;
}
