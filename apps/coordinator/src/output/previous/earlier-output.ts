import { jobParts } from '@halogrid/jobs/accepted-job';
import type { PreviewCandidate } from '@halogrid/jobs/preview-choice';
import type { JobSpec } from '@halogrid/proto';
import type { EarlierPlace } from '@halogrid/results/earlier-runs';
import { packKnown } from '@halogrid/results/known-sums';
import type { SourceLine } from '@halogrid/results/source-list';
import type { EarlierIndex } from './earlier-index.ts';
import { following } from './earlier-job.ts';
import { type DoneLine, EarlierPart } from './earlier-part.ts';
import type { Follows } from './follow-job.ts';

type Parts = readonly [EarlierPart, ...EarlierPart[]];

/**
 * The output of the complete job that another follows: which of its results are still valid. A source is valid for all
 * its pipelines, or all compute it again.
 */
export class EarlierOutput {
  /** One for each pipeline. They differ only in results, which are checked when they are read. */
  readonly #parts: Parts;
  /** For each pipeline of the following job, its index in `#parts`; -1 for an added pipeline. */
  readonly #places: readonly number[];
  /** What becomes of valid sources. */
  readonly follows: Pick<Follows, 'how' | 'why'>;

  /**
   * Undefined if no output can be used: the job wants nothing kept, the folder is new or has another job, or a part
   * cannot be used (see EarlierPart.open).
   */
  static async open(spec: JobSpec): Promise<EarlierOutput | undefined> {
    const before = spec.fresh || spec.share ? undefined : await following(spec);
    if (before?.kind !== 'follows') return undefined;
    const names = jobParts(spec).map(({ name }) => name);
    const there = jobParts(before.there).sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
    const parts: EarlierPart[] = [];
    for (const part of there) {
      const earlier = await EarlierPart.open(part.spec, part.pipeline);
      if (!earlier) return undefined;
      parts.push(earlier);
    }
    const { files } = parts[0]!.index;
    if (parts.some(({ index }) => index.files !== files)) return undefined;
    const places = names.map((name) => there.findIndex((part) => part.name === name));
    return new EarlierOutput(parts as unknown as Parts, places, before);
  }

  private constructor(parts: Parts, places: readonly number[], follows: Follows) {
    this.#parts = parts;
    this.#places = places;
    this.follows = follows;
  }

  /** Its files, from the first pipeline: all pipelines have the same. */
  get index(): EarlierIndex {
    return this.#parts[0].index;
  }

  firstLine(file: number): Promise<SourceLine> {
    return this.#parts[0].firstLine(file);
  }

  /** As EarlierPart.previews. */
  previews(): Promise<PreviewCandidate[]> {
    return this.#parts[0].previews();
  }

  /** As EarlierPart.holds, for all pipelines; always false if everything is computed again. */
  async holds(file: number, uri: string, version: string): Promise<boolean> {
    return this.follows.how !== 'computed' && (await this.#haveAll((part) => part.holds(file, uri, version)));
  }

  /** As EarlierPart.hasPreviews, for all pipelines; `isWanted` may be called for a source several times. */
  hasPreviews(file: number, isWanted: (nth: number, frame?: number) => boolean): Promise<boolean> {
    return this.#haveAll((part) => part.hasPreviews(file, isWanted));
  }

  /** As EarlierPart.sources, of the first pipeline. */
  sources(file: number): AsyncGenerator<EarlierPlace & { line: DoneLine }> {
    return this.#parts[0].sources(file);
  }

  /** The known sums of each source of a valid file, and its frame. Rejects like EarlierPart.sums. */
  async *known(file: number): AsyncGenerator<{ frame: number | undefined; known: Uint8Array }, undefined, undefined> {
    const [first, ...others] = this.#parts.map((part) => ({ part, sources: part.sources(file) }));
    for await (const source of first!.sources) {
      const { line } = source;
      const sums = [await first!.part.sums(source)];
      for (const { part, sources } of others) {
        const { value: own } = await sources.next();
        if (!own || !isSameSource(own.line, line)) throw part.altered(line);
        sums.push(await part.sums(own));
      }
      yield { frame: line.frame, known: packKnown(this.#places.map((place) => sums[place])) };
    }
    return undefined;
  }

  /** To be called last. */
  async close(): Promise<void> {
    for (const part of this.#parts) await part.close();
  }

  async #haveAll(has: (part: EarlierPart) => Promise<boolean>): Promise<boolean> {
    for (const part of this.#parts) if (!(await has(part))) return false;
    return true;
  }
}

function isSameSource(one: DoneLine, other: DoneLine): boolean {
  const facts = ({ uri, frame, name, width, height }: DoneLine) => [uri, frame, name, width, height].join('\n');
  return facts(one) === facts(other);
}
