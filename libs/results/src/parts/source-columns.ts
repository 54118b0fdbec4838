import { ColumnError } from '../features/column-error.ts';
import { decodeFlags, decodeLevels, decodePlain, decodeTexts } from '../features/decode-columns.ts';
import type { PageHeader } from '../features/raw-page.ts';
import { groupPages, pageRows, sourceSchema } from '../sources/source-pages.ts';
import type { RangeReader } from './range-reader.ts';
import { type PageTaker, readPages } from './read-pages.ts';

/**
 * Columns of sources.parquet that do not follow from the plan. `quarantined` has a value for each source of a shard,
 * the other columns for each source that was found, in order.
 */
export interface SourceColumns {
  /** 1 for a source that could not be processed, else 0. */
  quarantined: Uint8Array;
  widths: Float64Array;
  heights: Float64Array;
  counted: Float64Array;
  /** Texts of `captureText`; undefined if the time is not known. */
  captured: (string | undefined)[];
}

/** Reads the columns of `sources` sources. Rejects with ColumnError. */
export async function readSourceColumns(reader: RangeReader, sources: number): Promise<SourceColumns> {
  const flags = new FlagColumn(sources);
  const [width, height, counted] = [1, 2, 3].map(() => new NumberColumn(sources)) as NumberColumn[];
  const captured = new TimeColumn();
  const takers: Record<string, PageTaker> = {
    quarantined: flags,
    width: width!,
    height: height!,
    counted: counted!,
    captured,
  };
  const names = sourceSchema.slice(1).map(({ name }) => name);
  await readPages(
    reader,
    pagesOf(sources),
    names.map((name) => takers[name]),
  );
  const quarantined = flags.values;
  for (const { known } of [width!, height!, counted!]) {
    if (quarantined.some((flag, row) => known[row] === flag)) {
      throw new ColumnError('has sources that are neither found nor quarantined');
    }
  }
  const times = captured.values.filter((_, row) => quarantined[row] === 0);
  return { quarantined, widths: width!.values, heights: height!.values, counted: counted!.values, captured: times };
}

/** The number of rows of each page, by row group, for that many sources. */
function pagesOf(sources: number): number[][] {
  const pages = Array.from({ length: Math.ceil(sources / pageRows) }, (_, page) =>
    Math.min(pageRows, sources - page * pageRows),
  );
  return Array.from({ length: Math.ceil(pages.length / groupPages) }, (_, group) =>
    pages.slice(group * groupPages, (group + 1) * groupPages),
  );
}

class FlagColumn implements PageTaker {
  readonly values: Uint8Array;
  #rows = 0;

  constructor(sources: number) {
    this.values = new Uint8Array(sources);
  }

  mostBytes(rows: number): number {
    return Math.ceil(rows / 8);
  }

  take({ rows }: PageHeader, _: Uint8Array, values: Uint8Array): void {
    this.values.set(decodeFlags(values, rows), this.#rows);
    this.#rows += rows;
  }
}

/** A column of whole numbers and nulls. */
class NumberColumn implements PageTaker {
  /** 1 for a row with a number, 0 for a null. */
  readonly known: Uint8Array;
  readonly #numbers: Float64Array;
  #rows = 0;
  #filled = 0;

  constructor(sources: number) {
    this.known = new Uint8Array(sources);
    this.#numbers = new Float64Array(sources);
  }

  get values(): Float64Array {
    return this.#numbers.subarray(0, this.#filled);
  }

  mostBytes(rows: number): number {
    return 8 * rows;
  }

  take({ rows }: PageHeader, levels: Uint8Array, values: Uint8Array): void {
    const known = decodeLevels(levels, rows);
    this.known.set(known, this.#rows);
    this.#rows += rows;
    const from = this.#filled;
    for (const one of known) this.#filled += one;
    decodePlain(values, this.#numbers.subarray(from, this.#filled));
  }
}

/** The most bytes of a capture time, and the most that a text takes in addition to its own bytes. */
const timeBytes = 29;
const besideText = 16;

class TimeColumn implements PageTaker {
  readonly values: (string | undefined)[] = [];

  mostBytes(rows: number): number {
    return (timeBytes + besideText) * rows + 2 ** 10;
  }

  take({ rows }: PageHeader, levels: Uint8Array, values: Uint8Array): void {
    const known = decodeLevels(levels, rows);
    const texts = decodeTexts(
      values,
      known.reduce((sum, one) => sum + one, 0),
      timeBytes,
    ).values();
    for (const isKnown of known) this.values.push(isKnown ? texts.next().value : undefined);
  }
}
