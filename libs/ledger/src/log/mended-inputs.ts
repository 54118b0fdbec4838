import type { MendedInputs, MendedKind } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources/redact-uri';

/** Inputs from which bytes of the same kind were removed. */
interface Kind {
  inputs: number;
  /** The lowest index of such an input. */
  source: number;
}

/** The form that the ledger stores. */
export interface MendedState {
  kinds: [mended: string, inputs: number, source: number][];
  open: [source: number, mended: string][];
}

/** At most this many sentences are counted separately; further ones are counted together. Nodes know only a handful. */
const maxKinds = 20;
const others = 'Bytes that hold no pixel were passed over';

/**
 * Counts inputs from which bytes were removed, by the sentence about the bytes. Each tile of an image may bring the
 * sentence: the image counts once, when its last tile has come.
 */
export class MendedInputCounts {
  readonly #kinds: Map<string, Kind>;
  /** Images that still lack tiles. */
  readonly #open: Map<number, string>;

  constructor({ kinds, open }: MendedState = { kinds: [], open: [] }) {
    this.#kinds = new Map(kinds.map(([mended, inputs, source]) => [mended, { inputs, source }]));
    this.#open = new Map(open);
  }

  add({ mended, sources: inputs, source }: MendedKind): void {
    const isKnown = this.#kinds.has(mended) || this.#kinds.size < maxKinds - 1;
    const key = isKnown ? mended : others;
    const kind = this.#kinds.get(key) ?? { inputs: 0, source };
    this.#kinds.set(key, { inputs: kind.inputs + inputs, source: Math.min(kind.source, source) });
  }

  /** Takes back a call of `add`. The example of its kind stays. */
  takeBack({ mended, sources: inputs }: MendedKind): void {
    const key = this.#kinds.has(mended) ? mended : others;
    const kind = this.#kinds.get(key);
    if (!kind) return;
    if (kind.inputs > inputs) this.#kinds.set(key, { ...kind, inputs: kind.inputs - inputs });
    else this.#kinds.delete(key);
  }

  /** Sources whose URIs `list` may ask for, now or later. */
  examples(): Set<number> {
    return new Set([...[...this.#kinds.values()].map(({ source }) => source), ...this.#open.keys()]);
  }

  /**
   * A tile brings the sentence of its image. If tiles bring different ones, the fullest counts, in whatever order they
   * come: the longest, then the first by its characters.
   */
  addTile({ mended, source }: MendedKind): void {
    const other = this.#open.get(source);
    const isFuller =
      other === undefined || mended.length > other.length || (mended.length === other.length && mended < other);
    if (isFuller) this.#open.set(source, mended);
  }

  /** All tiles of an image have come, or the image is quarantined. */
  settle(source: number, isDone: boolean): void {
    const mended = this.#open.get(source);
    if (mended === undefined) return;
    this.#open.delete(source);
    if (isDone) this.add({ mended, sources: 1, source });
  }

  /** The most frequent first. `uriOf` gives the URI of a source; parts that may be secret are left out. */
  list(uriOf: (source: number) => string): MendedInputs[] {
    const sorted = [...this.#kinds].sort(([, a], [, b]) => b.inputs - a.inputs || a.source - b.source);
    return sorted.map(([mended, { inputs, source }]) => ({ mended, inputs, example: redactUri(uriOf(source)) }));
  }

  /** The counts in the form that the constructor takes; undefined if there are none. */
  get stored(): MendedState | undefined {
    if (this.#kinds.size === 0 && this.#open.size === 0) return undefined;
    return {
      kinds: [...this.#kinds].map(([mended, { inputs, source }]) => [mended, inputs, source]),
      open: [...this.#open],
    };
  }
}
