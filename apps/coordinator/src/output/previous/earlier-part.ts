import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { binsOfSource, digestedBins, type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import type { SourceSums } from '@halogrid/results/known-sums';
import { sourceDigest } from '@halogrid/results/source-digest';
import { headOfList, type SourceLine, SourceList } from '@halogrid/results/source-list';
import { allowedPath, redactUri } from '@halogrid/sources';
import { type CaptureTime, parseCapture } from '@halogrid/sources/captured';
import { jobGrid } from '../../job/accepted-job.ts';
import { outputPath } from '../../job/output-paths.ts';
import { mapFiles, previewFiles } from '../../job/picture-files.ts';
import { type PreviewCandidate, PreviewChoice } from '../../job/preview-choice.ts';
import { EarlierIndex } from './earlier-index.ts';

export type DoneLine = Extract<SourceLine, { name: string }>;

/** How often its sources are gone through for those that get a preview, where of those some are gone. */
const maxRounds = 5;

/** The files of one pipeline in the output of a complete job, while they are there: what of them holds for the next. */
export class EarlierPart {
  readonly index: EarlierIndex;
  readonly #list: SourceList;
  /** Sources that get a preview, of all that it had. */
  readonly #previewed: PreviewCandidate[];
  readonly #folder: string;
  readonly #mapFormat: string;
  readonly #shape: HistogramShape;
  readonly #cells: number;
  readonly #histogram: ((row: number) => Promise<ArrayLike<number>>) | undefined;

  /** Undefined where there is none that can be made use of: files are missing, or are of another version of the results. */
  static async open(spec: JobSpec, pipeline: Pipeline): Promise<EarlierPart | undefined> {
    const folder = outputPath(spec.out);
    const choice = new PreviewChoice();
    let sources = 0;
    const list = await SourceList.open(folder);
    const index =
      list && (await EarlierIndex.load(list, await headOfList(folder), (line) => choice.add(sources++, line)));
    if (!index) return undefined;
    const { candidates } = choice;
    const grid = jobGrid(spec);
    const shape = histogramShape(pipeline, grid);
    if (pipeline.bins === 0) return new EarlierPart(index, list, candidates, folder, spec.mapFormat, shape);
    const { FeatureReader } = await import('@halogrid/results/feature-reader');
    const reader = await FeatureReader.open(join(folder, 'features.parquet')).catch(() => undefined);
    if (reader?.rows !== index.done * grid.rows * grid.columns) return undefined;
    return new EarlierPart(index, list, candidates, folder, spec.mapFormat, shape, (row) => reader.histogram(row));
  }

  private constructor(
    index: EarlierIndex,
    list: SourceList,
    previewed: PreviewCandidate[],
    folder: string,
    mapFormat: string,
    shape: HistogramShape,
    histogram?: (row: number) => Promise<ArrayLike<number>>,
  ) {
    this.index = index;
    this.#list = list;
    this.#previewed = previewed;
    this.#folder = folder;
    this.#mapFormat = mapFormat;
    this.#shape = shape;
    this.#cells = shape.grid.rows * shape.grid.columns;
    this.#histogram = histogram;
  }

  /** The lines of a file, in order. */
  async *lines(file: number): AsyncGenerator<SourceLine> {
    const { sourcesBefore, sources } = this.index.file(file);
    for (let nth = 0; nth < sources; nth++) yield await this.#list.line(sourcesBefore + nth);
  }

  async firstLine(file: number): Promise<SourceLine> {
    return this.#list.line(this.index.file(file).sourcesBefore);
  }

  /** Whether a file is the same as then, everything in it was done, and its maps are there. */
  async holds(file: number, uri: string, version: string): Promise<boolean> {
    if (!this.index.file(file).areAllDone) return false;
    const first = await this.firstLine(file);
    if (first.uri !== redactUri(uri) || first.version !== version) return false;
    if (!this.index.isSame(first.frame !== undefined)) return false;
    if (this.#mapFormat === 'none') return true;
    for await (const line of this.lines(file)) {
      if (line.quarantined || !(await haveFiles(this.#folder, mapFiles(line.name, this.#mapFormat)))) return false;
    }
    return true;
  }

  /**
   * The sources that a choice among its own makes, of those that are still there, as far as that can be told at once: files of
   * this machine. What is taken away leaves its place to others, of which the earlier output may have no preview.
   */
  async previews(): Promise<PreviewCandidate[]> {
    const gone = new Set<string>();
    let chosen = this.#previewed;
    for (let round = 1; ; round++) {
      const goneBefore = gone.size;
      for (const { uri } of chosen) if (!(await isThere(uri))) gone.add(uri);
      if (gone.size === goneBefore || round === maxRounds) return chosen.filter(({ uri }) => !gone.has(uri));
      const choice = new PreviewChoice();
      let source = 0;
      for (let file = 0; file < this.index.files; file++) {
        for await (const { uri, frame } of this.lines(file)) if (!gone.has(uri)) choice.add(source++, { uri, frame });
      }
      chosen = choice.candidates;
    }
  }

  /**
   * Whether it has the previews of a file that are wanted now. `isWanted` is asked for each of its sources in order, the nth of
   * them counted from 0, until it has not.
   */
  async hasPreviews(file: number, isWanted: (nth: number, frame?: number) => boolean): Promise<boolean> {
    let nth = 0;
    for await (const line of this.lines(file)) {
      if (!isWanted(nth++, line.frame)) continue;
      if (line.quarantined || !(await haveFiles(this.#folder, previewFiles(line.name)))) return false;
    }
    return true;
  }

  /**
   * The results of a file that holds, one of each source. Rejects with one sentence where they are not what its digests say.
   */
  async *results(file: number): AsyncGenerator<{ line: DoneLine; sums: SourceSums; captured?: CaptureTime }> {
    let row = this.index.file(file).doneBefore * this.#cells;
    for await (const line of this.lines(file)) {
      if (line.quarantined) throw this.altered(line);
      const { width, height, counted, digest, captured: text } = line;
      const bins = await this.#bins(row, line);
      const own = sourceDigest({ width, height }, counted, digestedBins(this.#shape, bins));
      if (Buffer.from(own).toString('hex') !== digest || bins.length !== binsOfSource(this.#shape))
        throw this.altered(line);
      const captured = text === undefined ? undefined : parseCapture(text);
      yield { line, sums: { counted, bins }, ...(captured && { captured }) };
      row += this.#cells;
    }
  }

  /** What is thrown where its results of a source are not what they were. */
  altered({ uri }: SourceLine, cause?: unknown): Error {
    return new Error(
      `The earlier results of '${uri}' in '${this.#folder}' have changed since they were written; a fresh run computes everything again`,
      { cause },
    );
  }

  /** The bins of all cells. */
  async #bins(row: number, line: SourceLine): Promise<ArrayLike<number>> {
    if (!this.#histogram) return [];
    try {
      if (this.#cells === 1) return await this.#histogram(row);
      const bins = new Float64Array(binsOfSource(this.#shape));
      const cellBins = bins.length / this.#cells;
      for (let cell = 0; cell < this.#cells; cell++) {
        const counts = await this.#histogram(row + cell);
        if (counts.length !== cellBins) throw new Error(`A cell has ${counts.length} bins instead of ${cellBins}`);
        bins.set(counts, cell * cellBins);
      }
      return bins;
    } catch (error) {
      throw this.altered(line, error);
    }
  }
}

async function haveFiles(folder: string, paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (!(await stat(join(folder, path)).catch(() => undefined))) return false;
  return true;
}

/** What is on a server is not asked for: it counts as being there. */
async function isThere(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return true;
  const found = allowedPath(fileURLToPath(uri)).then(stat);
  return (await found.catch(() => undefined)) !== undefined;
}
