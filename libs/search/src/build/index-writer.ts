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

/** What was done with a job; `replaced`: it took the place of an earlier job with the same output folder. */
export interface Indexed {
  outcome: 'added' | 'replaced' | 'skipped';
  frames: number;
}

/** Frames from one call of `progress` to the next: some tenths of a second. */
const progressFrames = 10_000;

/**
 * Makes and extends an index, for one process at a time. Each change is complete when its promise resolves. Until then,
 * readers see the index as it was.
 */
export class IndexWriter {
  readonly #folder: string;
  readonly #lock: WriteLock;
  #manifest: Manifest | undefined;

  /** Rejects with IndexError if another process writes to the index, or it is damaged. */
  static async open(folder: string): Promise<IndexWriter> {
    await makeFolders(folder);
    const lock = new WriteLock(folder);
    try {
      const manifest = await readManifest(folder);
      // Nothing is added to an index that cannot be searched.
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

  /** Throws IndexError with all differences if the job has another pipeline than the index. */
  check({ out, pipeline }: FinishedJob): void {
    const different = this.#manifest ? differences(pipeline, this.#manifest.pipeline) : [];
    if (different.length === 0) return;
    throw new IndexError(
      `The job in '${out}' was computed with another pipeline than the index '${this.#folder}': ${different.join('; ')}`,
    );
  }

  /**
   * Adds the frames of a job. A job that is in the index, by its id or by its digest and sources, is skipped. An
   * earlier job with the same output folder is removed. `progress` is called now and then with the number of frames
   * added so far.
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

  /** Joins segments that are not full, if there are several: a search then opens fewer files, and blocks are full. */
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
   * Replaces the touched segments by new ones. These hold the frames of kept jobs, and behind them the frames that
   * `addMore` adds. Resolves with the number of frames that `addMore` added.
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
      // The new manifest may be in place or not, so no file is removed here: the next writer removes files that no
      // manifest names.
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
