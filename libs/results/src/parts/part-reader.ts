import { join } from 'node:path';
import type { Size } from '@halogrid/geometry';
import { parseCapture } from '@halogrid/sources/captured';
import type { SourceBlock } from '@halogrid/sources/source-block';
import { binsOfCell } from '../counts/histogram-shape.ts';
import { ColumnError } from '../features/column-error.ts';
import { pageLayout } from '../features/page-layout.ts';
import { readCounts } from './count-column.ts';
import { type FoundColumns, type FoundCounts, noZone } from './found-shard.ts';
import { LostFileError, OpenFiles } from './open-files.ts';
import { PartError } from './part-error.ts';
import type { FoundInPart, PartPipeline } from './part-writer.ts';
import { RangeReader } from './range-reader.ts';
import { type FilePlace, isPartId, pipelinePaths, type ShardPlace } from './shard-place.ts';
import { readSourceColumns, type SourceColumns } from './source-columns.ts';

/** The most files of parts that are kept open: the shards of a part are seldom read one after another. */
const mostOpen = 64;

/** The results of a pipeline. */
type PipelineColumns = SourceColumns & FoundCounts;

/**
 * Reads shards from the parts of a job. Facts about sources come from the plan; the facts in the files and the footers
 * are ignored. Holds the counts of one shard, and a megabyte.
 */
export class PartReader {
  readonly #folder: string;
  readonly #pipelines: readonly PartPipeline[];
  readonly #names: readonly string[];
  readonly #files: OpenFiles;

  /** `folder` holds the parts. */
  constructor(folder: string, pipelines: readonly PartPipeline[]) {
    this.#folder = folder;
    this.#pipelines = pipelines;
    this.#names = pipelines.map(({ name }) => name);
    this.#files = new OpenFiles(folder, mostOpen);
  }

  /**
   * The results of a block's sources in a part. Rejects with PartError if the part is missing, its bytes at these
   * places have changed, or they are not rows of these sources. Rejects with another error, which has the code of a
   * system error, if the part cannot be read for now.
   */
  async read({ part, places }: Pick<FoundInPart, 'part' | 'places'>, block: SourceBlock): Promise<FoundColumns> {
    this.#checkId(part);
    const parts: PipelineColumns[] = [];
    for (const pipeline of this.#pipelines.keys()) {
      parts.push(await this.#readPipeline(part, pipeline, places[pipeline], block));
    }
    const { quarantined, widths, heights, captured } = parts[0]!;
    if (parts.some((other) => Buffer.compare(other.quarantined, quarantined) !== 0)) {
      throw this.error(part, 'has different sources in its pipelines');
    }
    const found = Uint32Array.from(quarantined.keys().filter((nth) => quarantined[nth] === 0));
    const size = (values: Float64Array): Uint32Array => {
      const bad = values.find((value) => !(value > 0 && value < 2 ** 32));
      if (bad !== undefined) throw this.error(part, `has a source that is ${bad} pixels wide or high`);
      return Uint32Array.from(values);
    };
    return { found, widths: size(widths), heights: size(heights), captured: this.#times(part, captured), parts };
  }

  /**
   * Width and height of each source of a block, by its place there; undefined for sources that were not found. Rejects
   * as `read` does.
   */
  async sizes({ part, places }: Pick<FoundInPart, 'part' | 'places'>, sources: number): Promise<(Size | undefined)[]> {
    this.#checkId(part);
    const path = pipelinePaths(part, this.#names, 0).sources;
    const columns = await this.#read(part, path, places[0]?.sources, (range) => readSourceColumns(range, sources));
    const { quarantined, widths, heights } = columns;
    let row = 0;
    return Array.from(quarantined, (flag) => {
      return flag === 1 ? undefined : { width: widths[row]!, height: heights[row++]! };
    });
  }

  /**
   * Whether the files of a part exist and reach these places. Rows are not read. Rejects as `read` does if that cannot
   * be known for now.
   */
  async has({ part, places }: Pick<FoundInPart, 'part' | 'places'>): Promise<boolean> {
    if (!isPartId(part)) return false;
    for (const [pipeline, { sources, features }] of places.entries()) {
      const paths = pipelinePaths(part, this.#names, pipeline);
      if (!(await this.#reaches(part, paths.sources, sources))) return false;
      if (features && !(await this.#reaches(part, paths.features, features))) return false;
    }
    return true;
  }

  /** Makes the error of a part. The clause `what` follows the name of the part. */
  error(part: string, what: string, cause?: unknown): PartError {
    return new PartError(join(this.#folder, part), what, cause);
  }

  /** Closes open files. */
  async close(): Promise<void> {
    await this.#files.close();
  }

  #checkId(part: string): void {
    if (!isPartId(part)) throw this.error(part, 'has a name that no part has');
  }

  async #readPipeline(
    part: string,
    pipeline: number,
    place: ShardPlace | undefined,
    block: SourceBlock,
  ): Promise<PipelineColumns> {
    const { shape } = this.#pipelines[pipeline]!;
    const { sources, features } = pipelinePaths(part, this.#names, pipeline);
    const columns = await this.#read(part, sources, place?.sources, (range) => readSourceColumns(range, block.length));
    if (shape.bins === 0) return { ...columns, bins: new Uint32Array() };
    const layout = pageLayout(shape.grid.rows * shape.grid.columns, binsOfCell(shape));
    const numbers = Array.from({ length: block.length }, (_, nth) => block.index(nth));
    const found = numbers.filter((_, nth) => columns.quarantined[nth] === 0);
    const bins = await this.#read(part, features, place?.features, (range) => readCounts(range, layout, found));
    return { ...columns, bins };
  }

  /** Reads the bytes of a file at `place` with `act`. */
  async #read<Read>(
    part: string,
    path: string,
    place: FilePlace | undefined,
    act: (range: RangeReader) => Promise<Read>,
  ): Promise<Read> {
    const file = path.slice(part.length + 1);
    const isPlace = place && [place.start, place.length].every((number) => Number.isSafeInteger(number) && number >= 0);
    if (!isPlace) throw this.error(part, `has no place in ${file} for the shard`);
    try {
      return await act(new RangeReader(await this.#files.get(path), place));
    } catch (error) {
      if (error instanceof ColumnError) throw this.error(part, `is damaged: ${file} ${error.message}`, error);
      // A stale file handle stays stale.
      await this.#files.close().catch(() => {});
      throw this.#unreadable(part, error as NodeJS.ErrnoException);
    }
  }

  async #reaches(part: string, path: string, { start, length }: FilePlace): Promise<boolean> {
    try {
      const { size } = await (await this.#files.get(path)).stat();
      return size >= start + length;
    } catch (error) {
      if (error instanceof LostFileError) return false;
      throw this.#unreadable(part, error as NodeJS.ErrnoException);
    }
  }

  /** A PartError if the part is missing. A part that cannot be read for now may exist, and gets another error. */
  #unreadable(part: string, error: NodeJS.ErrnoException): Error {
    const lost = this.error(part, `cannot be read: ${error.message}`, error);
    if (error instanceof LostFileError) return lost;
    return Object.assign(new Error(lost.message, { cause: error }), { code: error.code });
  }

  #times(part: string, texts: readonly (string | undefined)[]): FoundColumns['captured'] {
    if (texts.every((text) => text === undefined)) return undefined;
    const localMs = new Float64Array(texts.length).fill(Number.NaN);
    const offsetMinutes = new Int16Array(texts.length).fill(noZone);
    for (const [row, text] of texts.entries()) {
      if (text === undefined) continue;
      const time = parseCapture(text);
      if (!time) throw this.error(part, `has '${text}' for a time of capture`);
      localMs[row] = time.localMs;
      offsetMinutes[row] = time.offsetMinutes ?? noZone;
    }
    return { localMs, offsetMinutes };
  }
}
