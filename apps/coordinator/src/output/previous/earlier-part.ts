import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobGrid } from '@halogrid/jobs/accepted-job';
import { outputPath } from '@halogrid/jobs/output-paths';
import { mapFiles, previewFiles } from '@halogrid/jobs/picture-files';
import { type PreviewCandidate, PreviewChoice } from '@halogrid/jobs/preview-choice';
import type { Pipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import type { EarlierCounts } from '@halogrid/results/earlier-counts';
import { alteredEarlier, type EarlierPlace } from '@halogrid/results/earlier-runs';
import { histogramShape } from '@halogrid/results/histogram-shape';
import type { SourceSums } from '@halogrid/results/known-sums';
import { headOfList, type SourceLine, SourceList } from '@halogrid/results/source-list';
import { allowedPath, redactUri } from '@halogrid/sources';
import { EarlierIndex } from './earlier-index.ts';

export type DoneLine = Extract<SourceLine, { name: string }>;

/** How often the sources are scanned for previews, if some of the chosen sources are gone. */
const maxRounds = 5;

/** The files of one pipeline in the output of a complete job: which of its results are still valid. */
export class EarlierPart {
  readonly index: EarlierIndex;
  readonly #list: SourceList;
  /** Sources that get a preview, chosen from all sources. */
  readonly #previewed: PreviewCandidate[];
  readonly #folder: string;
  readonly #mapFormat: string;
  readonly #counts: EarlierCounts;

  /** Undefined if it cannot be used: files are missing, or belong to another version of the results. */
  static async open(spec: JobSpec, pipeline: Pipeline): Promise<EarlierPart | undefined> {
    const folder = outputPath(spec.out);
    const choice = new PreviewChoice();
    let sources = 0;
    const list = await SourceList.open(folder);
    const index =
      list && (await EarlierIndex.load(list, await headOfList(folder), (line) => choice.add(sources++, line)));
    if (!index) return undefined;
    const { candidates } = choice;
    const { EarlierCounts } = await import('@halogrid/results/earlier-counts');
    const counts = await EarlierCounts.open({ folder, shape: histogramShape(pipeline, jobGrid(spec)) });
    if (!counts?.has(index.done)) return undefined;
    return new EarlierPart(index, list, candidates, folder, spec.mapFormat, counts);
  }

  private constructor(
    index: EarlierIndex,
    list: SourceList,
    previewed: PreviewCandidate[],
    folder: string,
    mapFormat: string,
    counts: EarlierCounts,
  ) {
    this.index = index;
    this.#list = list;
    this.#previewed = previewed;
    this.#folder = folder;
    this.#mapFormat = mapFormat;
    this.#counts = counts;
  }

  /** The lines of a file, in order. */
  async *lines(file: number): AsyncGenerator<SourceLine> {
    const { sourcesBefore, sources } = this.index.file(file);
    for (let nth = 0; nth < sources; nth++) yield await this.#list.lineOfMany(sourcesBefore + nth);
  }

  async firstLine(file: number): Promise<SourceLine> {
    return this.#list.lineOfMany(this.index.file(file).sourcesBefore);
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
   * The sources that would be chosen for a preview among those that still exist, as far as that can be checked quickly:
   * files of this machine. Other sources take the place of removed ones, and may have no preview in the earlier output.
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
   * Whether it has all wanted previews of a file. `isWanted` is called with n for the nth source of the file, from 0
   * on, until a preview is missing.
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
   * The sources of a valid file, with the places of their results. Rejects with one sentence if its list has changed.
   */
  async *sources(file: number): AsyncGenerator<EarlierPlace & { line: DoneLine }> {
    const { sourcesBefore, doneBefore } = this.index.file(file);
    let nth = 0;
    for await (const line of this.lines(file)) {
      if (line.quarantined) throw this.altered(line);
      yield { line, source: sourcesBefore + nth, doneBefore: doneBefore + nth };
      nth++;
    }
  }

  /** The counts of the next source that `sources` yields. Rejects with one sentence if they do not match its digest. */
  async sums({ line, doneBefore }: EarlierPlace & { line: DoneLine }): Promise<SourceSums> {
    const bins = new Float64Array(this.#counts.bins);
    await this.#counts.read(doneBefore, 1, line.uri, bins);
    if (!this.#counts.isOf(line, bins)) throw this.altered(line);
    return { counted: line.counted, bins };
  }

  async close(): Promise<void> {
    await this.#list.close();
  }

  /** The error for a source that has changed since it was written. */
  altered({ uri }: SourceLine): Error {
    return alteredEarlier(uri, this.#folder);
  }
}

async function haveFiles(folder: string, paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (!(await stat(join(folder, path)).catch(() => undefined))) return false;
  return true;
}

/** Servers are not asked: their files count as existing. */
async function isThere(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return true;
  const found = allowedPath(fileURLToPath(uri)).then(stat);
  return (await found.catch(() => undefined)) !== undefined;
}
