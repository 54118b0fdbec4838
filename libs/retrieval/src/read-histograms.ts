import { stat } from 'node:fs/promises';
import { Refusal } from '@halogrid/jobs/refusal';
import { FeatureReader } from '@halogrid/results/feature-reader';
import { allowedPath } from '@halogrid/sources';
import type { Orders } from './orders.ts';

/**
 * Reads `count` histograms from row `first` on of a features.parquet, a file or a folder. Anybody who can write its
 * folder may have forged it. Rejects with Refusal.
 */
export async function readHistograms({ features, first, count }: Orders['histograms']['order']): Promise<number[][]> {
  const path = await allowedPath(features);
  try {
    const reader = await readerOf(path);
    if (!reader) throw new Refusal('missing', 'The job kept no histogram of it');
    const histograms = [];
    for (let row = first; row < first + count; row++) histograms.push(Array.from(await reader.histogram(row)));
    return histograms;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('unmet', 'The features.parquet of the job is damaged, or was changed: run the job again');
  }
}

/** The reader of the last file: a page asks for the same file repeatedly, and opening a folder reads all footers. */
let last: { path: string; version: string; reader: Promise<FeatureReader | undefined> } | undefined;

async function readerOf(path: string): Promise<FeatureReader | undefined> {
  const { size, mtimeMs } = (await stat(path).catch(() => undefined)) ?? {};
  const version = `${size}-${mtimeMs}`;
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
