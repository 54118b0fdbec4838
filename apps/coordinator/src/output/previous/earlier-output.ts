import type { JobSpec } from '@halogrid/proto';
import type { EarlierPlace } from '@halogrid/results/earlier-runs';
import type { SourceLine } from '@halogrid/results/source-list';
import { jobParts } from '../../job/accepted-job.ts';
import type { PreviewCandidate } from '../../job/preview-choice.ts';
import type { EarlierIndex } from './earlier-index.ts';
import { type DoneLine, EarlierPart } from './earlier-part.ts';

type Parts = readonly [EarlierPart, ...EarlierPart[]];

/**
 * The output of a complete job of the same specification, while it is there: what of it holds for the next. A source is kept in the
 * results of all pipelines, or computed again by all of them.
 */
export class EarlierOutput {
  /** One a pipeline. All say the same of a source but for its results: whoever reads those looks. */
  readonly #parts: Parts;

  /** Undefined where a pipeline has none that can be made use of: see EarlierPart.open. */
  static async open(spec: JobSpec): Promise<EarlierOutput | undefined> {
    const parts: EarlierPart[] = [];
    for (const part of jobParts(spec)) {
      const earlier = await EarlierPart.open(part.spec, part.pipeline);
      if (!earlier) return undefined;
      parts.push(earlier);
    }
    const { files } = parts[0]!.index;
    return parts.every(({ index }) => index.files === files) ? new EarlierOutput(parts as unknown as Parts) : undefined;
  }

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Its files, as the first pipeline has them: all have the same. */
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

  /** As EarlierPart.holds, of all pipelines. */
  holds(file: number, uri: string, version: string): Promise<boolean> {
    return this.#haveAll((part) => part.holds(file, uri, version));
  }

  /** As EarlierPart.hasPreviews, of all pipelines; `isWanted` may be asked for a source several times. */
  hasPreviews(file: number, isWanted: (nth: number, frame?: number) => boolean): Promise<boolean> {
    return this.#haveAll((part) => part.hasPreviews(file, isWanted));
  }

  /** As EarlierPart.sources, of the first pipeline. */
  sources(file: number): AsyncGenerator<EarlierPlace & { line: DoneLine }> {
    return this.#parts[0].sources(file);
  }

  async #haveAll(has: (part: EarlierPart) => Promise<boolean>): Promise<boolean> {
    for (const part of this.#parts) if (!(await has(part))) return false;
    return true;
  }
}
