import { quarantinedDigest } from '../counts/source-digest.ts';
import { type FoundFacts, noZone } from './found-shard.ts';

/** What was found of sources that follow one another but their counts, in memory that can change hands. */
export interface PackedFound {
  /** Five numbers a source, end to end; a width of 0 stands for a source that is quarantined. */
  numbers: Float64Array<ArrayBuffer>;
  /** The digest of each source, end to end. */
  digests: Uint8Array<ArrayBuffer>;
}

/** Width, height, counted, time of capture (NaN for none), and how far its clock is ahead of UTC. */
const numbersOfSource = 5;
const digestBytes = quarantinedDigest.length;

/** Gathers what was found of sources, one after another. */
export class FoundList {
  readonly #numbers: number[] = [];
  readonly #digests: Uint8Array[] = [];

  /** The next source; absent for one that is quarantined. */
  add(found: FoundFacts | undefined): void {
    const { size, counted = 0, captured, digest = quarantinedDigest } = found ?? {};
    const { localMs = Number.NaN, offsetMinutes = noZone } = captured ?? {};
    this.#numbers.push(size?.width ?? 0, size?.height ?? 0, counted, localMs, offsetMinutes);
    this.#digests.push(digest);
  }

  /** Those that were added since the last call. */
  take(): PackedFound {
    const digests = new Uint8Array(digestBytes * this.#digests.length);
    for (const [i, digest] of this.#digests.entries()) digests.set(digest, digestBytes * i);
    const numbers = Float64Array.from(this.#numbers);
    this.#numbers.length = 0;
    this.#digests.length = 0;
    return { numbers, digests };
  }
}

/** Each of them in order; undefined for one that is quarantined. */
export function* unpackFound({ numbers, digests }: PackedFound): Generator<FoundFacts | undefined, void, undefined> {
  for (let at = 0, from = 0; at < numbers.length; at += numbersOfSource, from += digestBytes) {
    const size = { width: numbers[at]!, height: numbers[at + 1]! };
    const [localMs, offsetMinutes] = [numbers[at + 3]!, numbers[at + 4]!];
    const clock = offsetMinutes === noZone ? { localMs } : { localMs, offsetMinutes };
    const captured = Number.isNaN(localMs) ? undefined : clock;
    const digest = Buffer.from(digests.buffer, digests.byteOffset + from, digestBytes);
    yield size.width === 0 ? undefined : { size, counted: numbers[at + 2]!, captured, digest };
  }
}
