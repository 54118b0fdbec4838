import { ColumnError } from '../features/column-error.ts';
import { decodePlain } from '../features/decode-columns.ts';
import { deltaPackedBytes } from '../features/delta-pack.ts';
import { deltaUnpack } from '../features/delta-unpack.ts';
import { featureSchema } from '../features/encode-page.ts';
import { cutPages, type PageLayout } from '../features/page-layout.ts';
import type { PageHeader } from '../features/raw-page.ts';
import type { Counts } from './found-shard.ts';
import type { RangeReader } from './range-reader.ts';
import { type PageTaker, readPages } from './read-pages.ts';

/** Reads the counts of the sources with these numbers from features.parquet, end to end. Rejects with ColumnError. */
export async function readCounts(reader: RangeReader, layout: PageLayout, numbers: readonly number[]): Promise<Counts> {
  const column = new CountColumn(layout, numbers.length);
  const leaves = featureSchema(false).filter(({ type }) => type);
  const takers = leaves.map((_, i) => (i === leaves.length - 1 ? column : undefined));
  await readPages(reader, cutPages(layout, numbers), takers);
  return column.counts;
}

class CountColumn implements PageTaker {
  counts: Counts;
  readonly #bins: number;
  #filled = 0;

  constructor({ cells, bins }: PageLayout, sources: number) {
    this.#bins = bins;
    this.counts = new Uint32Array(sources * cells * bins);
  }

  mostBytes(rows: number): number {
    const values = rows * this.#bins;
    return Math.max(deltaPackedBytes(values), 8 * values);
  }

  take({ rows, encoding }: PageHeader, _: Uint8Array, values: Uint8Array): void {
    const from = this.#filled;
    this.#filled += rows * this.#bins;
    // The counts of a plain page may be 2^32 or more.
    if (encoding === 'PLAIN' && this.counts instanceof Uint32Array) this.counts = Float64Array.from(this.counts);
    const into = this.counts.subarray(from, this.#filled);
    if (encoding === 'PLAIN') decodePlain(values, into);
    else if (encoding === 'DELTA_BINARY_PACKED') deltaUnpack(values, 0, into);
    else throw new ColumnError(`has counts in ${encoding}`);
  }
}
