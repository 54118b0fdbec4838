import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AcceptedJob, jobParts } from '@halogrid/jobs/accepted-job';
import { partScratchUri, scratchUri } from '@halogrid/jobs/output-paths';
import type { SettledSources } from '@halogrid/ledger';
import { forEachLimited } from '@halogrid/threads';
import { type DoneSource, DoneSources } from './done-sources.ts';
import { LostPartError } from './lost-part-error.ts';
import { earlyPictures, makePictures, type PictureParts } from './pictures.ts';

/** For how many sources pictures are made at once: nodes of the same machine may need its cores. */
const atOnce = 2;

/**
 * Makes the chosen previews while results come in: encoding twenty of them at the end of a job of 3,000 frames took a
 * tenth of its time (measured). They stay in the scratch folder until finalise takes them. finalise makes those that
 * could not be made here, and reports errors.
 */
export class PicturesAhead {
  readonly #parts: readonly PictureParts[];
  readonly #sources: Pick<DoneSources, 'look' | 'close'>;
  readonly #left: Set<number>;
  #making: Promise<void> | undefined;
  #isEnded = false;

  constructor(parts: readonly PictureParts[], chosen: readonly number[], sources: Pick<DoneSources, 'look' | 'close'>) {
    this.#parts = parts;
    this.#left = new Set(chosen);
    this.#sources = sources;
    void this.advance();
  }

  /** To be called when more sources may be settled. Resolves when their pictures are made; never rejects. */
  async advance(): Promise<void> {
    if (this.#isEnded) return;
    // Errors of reading sources are reported elsewhere.
    const made = this.#making ?? this.#make().catch(() => {});
    this.#making = made.finally(() => {
      this.#making = undefined;
    });
    await this.#making;
  }

  /** Starts no more pictures; resolves when none is being made. May be called again. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#making;
    await this.#sources.close();
  }

  async #make(): Promise<void> {
    for (let done = await this.#takeDone(); done.length > 0; done = await this.#takeDone()) {
      await forEachLimited(done, atOnce, (source) => this.#makeOf(source));
    }
  }

  /**
   * Leaves a source whose part is lost to finalise, which has it computed again. Retries a source that cannot be read
   * for now.
   */
  async #takeDone(): Promise<DoneSource[]> {
    const done: DoneSource[] = [];
    for (const index of [...this.#left]) {
      const source = await this.#sources.look(index).catch((error) => {
        return error instanceof LostPartError ? ('quarantined' as const) : undefined;
      });
      if (!source) continue;
      this.#left.delete(index);
      if (source !== 'quarantined') done.push(source);
    }
    return done;
  }

  async #makeOf(source: DoneSource): Promise<void> {
    for (const parts of this.#parts) {
      if (this.#isEnded) return;
      const files = earlyPictures(parts, source.index);
      // Never creates the scratch folder itself, which may have been removed with its job.
      await mkdir(dirname(files[0])).catch(() => {});
      await makePictures(parts, source, files).catch(() => {});
    }
  }
}

/** The pictures of a job whose folder is claimed. */
export function openPictures(
  { spec, pipeline: only }: Pick<AcceptedJob, 'spec' | 'pipeline'>,
  chosen: readonly number[],
  settled: (from: number, atMost: number) => Promise<SettledSources>,
): PicturesAhead {
  const parts = spec.pipelines ? jobParts(spec) : [{ name: '', pipeline: only }];
  const sourcesScratch = scratchUri(spec.out);
  return new PicturesAhead(
    parts.map(({ name, pipeline }) => {
      return { pipeline, scratch: partScratchUri(spec.out, name), sourcesScratch, tilePx: spec.tilePx };
    }),
    chosen,
    new DoneSources(spec, settled),
  );
}
