import { makeFolders } from '@halogrid/service/make-folders';
import { IndexError } from '../store/index-error.ts';
import { readManifest, removeUnnamed, writeManifest } from '../store/index-folder.ts';
import type { Manifest, Segment } from '../store/manifest.ts';
import { checkLengths, closeCatalog, openCatalog } from '../store/open-catalog.ts';
import { cellsOfGrid, countsOfCell, differences } from '../store/pipeline-identity.ts';
import type { JobName } from '../store/segment-writer.ts';
import { framesOfFull, SegmentsWriter } from '../store/segments-writer.ts';
import { storedFrames } from '../store/stored-frames.ts';
import { WriteLock } from '../store/write-lock.ts';
import type { FinishedJob } from './finished-job.ts';
import { readFeatures } from './read-features.ts';

/** What became of a job: `replaced` is that an earlier job of its output folder has made room for it. */
export interface Indexed {
  outcome: 'added' | 'replaced' | 'skipped';
  frames: number;
}

/** Frames from one word of progress to the next: some tenths of a second. */
const progressFrames = 10_000;

/**
 * Makes and extends an index, for one process at a time. Each change is whole when its promise resolves, and whoever
 * reads the index meanwhile sees it as it was.
 */
export class IndexWriter {
  readonly #folder: string;
  readonly #lock: WriteLock;
  #manifest: Manifest | undefined;

  /** Rejects with IndexError where another process writes to it, or it is damaged. */
  static async open(folder: string): Promise<IndexWriter> {
    await makeFolders(folder);
    const lock = new WriteLock(folder);
    try {
      const manifest = await readManifest(folder);
      // Nothing is added to what cannot be searched.
      if (manifest) await checkLengths(folder, manifest);
      await removeUnnamed(folder, manifest);
      return new IndexWriter(folder, lock, manifest);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(folder: string, lock: WriteLock, manifest: Manifest | undefined) {
    this.#folder = folder;
    this.#lock = lock;
    this.#manifest = manifest;
  }

  get segments(): readonly Segment[] {
    return this.#manifest?.segments ?? [];
  }

  get frames(): number {
    return this.segments.reduce((sum, { frames }) => sum + frames, 0);
  }

  close(): void {
    this.#lock.release();
  }

  /** Throws IndexError with all that differs where the job is of another pipeline than those that are indexed. */
  check({ out, pipeline }: FinishedJob): void {
    const different = this.#manifest ? differences(pipeline, this.#manifest.pipeline) : [];
    if (different.length === 0) return;
    throw new IndexError(
      `The job in '${out}' was computed with another pipeline than the index '${this.#folder}': ${different.join('; ')}`,
    );
  }

  /**
   * Adds the frames of a job. One that is there, by its id or by its digest and sources, is skipped; an earlier one of
   * the same output folder makes room. `progress` is told now and then how many frames were added so far.
   */
  async add(job: FinishedJob, progress: (frames: number) => void = () => {}): Promise<Indexed> {
    this.check(job);
    const there = this.segments.flatMap(({ jobs }) => jobs);
    const isThere = ({ id, digest, sources }: JobName): boolean =>
      id === job.id || (digest === job.digest && sources === job.sources);
    const same = there.filter(isThere);
    if (same.length > 0) return { outcome: 'skipped', frames: same.reduce((sum, { frames }) => sum + frames, 0) };
    const earlier = there.find(({ out }) => out === job.out);
    const name: JobName = { id: job.id, digest: job.digest, out: job.out, sources: job.sources };
    const isTouched = ({ jobs }: Segment): boolean => jobs.some(({ out }) => out === job.out);
    const frames = await this.#rewrite(
      job.pipeline,
      isTouched,
      ({ out }) => out !== job.out,
      async (writer) => {
        let count = 0;
        for await (const frame of readFeatures(job)) {
          await writer.add(name, frame);
          if (++count % progressFrames === 0) progress(count);
        }
        return count;
      },
    );
    return { outcome: earlier ? 'replaced' : 'added', frames };
  }

  /** Joins segments that are not full, where there are several: a search opens fewer files, and blocks are full. */
  async compact(): Promise<void> {
    if (!this.#manifest) return;
    const full = framesOfFull(cellsOfGrid(this.#manifest.pipeline));
    const isSmall = ({ frames }: Segment): boolean => frames < full;
    if (this.segments.filter(isSmall).length < 2) return;
    await this.#rewrite(
      this.#manifest.pipeline,
      isSmall,
      () => true,
      async () => 0,
    );
  }

  /**
   * Puts new segments in the place of those that are touched: with their frames of jobs that are kept, and behind these
   * what `addMore` adds, whose number of frames it resolves with.
   */
  async #rewrite(
    pipeline: FinishedJob['pipeline'],
    isTouched: (segment: Segment) => boolean,
    isKept: (job: JobName) => boolean,
    addMore: (writer: SegmentsWriter) => Promise<number>,
  ): Promise<number> {
    const before = this.#manifest ?? { pipeline, segments: [], nextSegment: 1 };
    const shape = { cells: cellsOfGrid(pipeline), cellBins: countsOfCell(pipeline) };
    const writer = new SegmentsWriter(this.#folder, shape, before.nextSegment);
    try {
      if (before.segments.some(isTouched)) await this.#copy(writer, isTouched, isKept);
      const added = await addMore(writer);
      const { segments, next } = await writer.finish();
      const untouched = before.segments.filter((segment) => !isTouched(segment));
      const manifest = { ...before, segments: [...untouched, ...segments], nextSegment: next };
      await writeManifest(this.#folder, manifest);
      this.#manifest = manifest;
      await removeUnnamed(this.#folder, manifest);
      return added;
    } catch (error) {
      // Whether the new manifest is in place may be unknown: files that are in none are left to the next writer.
      await writer.abort();
      throw error;
    }
  }

  async #copy(
    writer: SegmentsWriter,
    isTouched: (segment: Segment) => boolean,
    isKept: (job: JobName) => boolean,
  ): Promise<void> {
    const catalog = await openCatalog(this.#folder);
    try {
      for (const [index, { segment }] of catalog.segments.entries()) {
        if (!isTouched(segment)) continue;
        for (const { job, frame } of storedFrames(catalog, index)) if (isKept(job)) await writer.add(job, frame);
      }
    } finally {
      closeCatalog(catalog);
    }
  }
}
