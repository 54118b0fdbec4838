import { hash } from 'node:crypto';
import { redactUri } from '@halogrid/sources';

/** How many sources get a preview, unless a job has fewer. */
export const previewSources = 20;

/** A source that may get a preview: an image by its URI, or a frame by the URI of its video and its number there. */
export interface PreviewCandidate {
  uri: string;
  frame?: number;
}

interface Entry {
  /** URI of the image or the video. */
  uri: string;
  frame: number | undefined;
  /** Number of the image's folder, or of the video. */
  group: number;
  /** 32 bits; the source with the lowest priority of a group is chosen first. */
  priority: number;
  /** How many sources of the group are chosen before it. */
  rank: number;
  /** Index of the source in the job; undefined for an expected source until it is added. */
  index: number | undefined;
}

/**
 * Chooses the sources that get a preview: one of each folder and of each video, then a second one of each, and so on,
 * until there are 20. The SHA-256 of the URIs decides which image of a folder comes first. Frames are spread over their
 * video: the number of a frame with its bits reversed (van der Corput's sequence) is XORed with the hash of the URI.
 *
 * So the choice depends on nothing but the sources. A source that is not chosen among some is not chosen among more.
 * Therefore every source that is chosen at the end is chosen when it is added. If m of n sources are expected when the
 * first is added, about 20 ln(n / m) are chosen for a time (46 of 10,000, 138 of a million, with 1,024 expected). When
 * an archive grows, no source that it had before needs a new preview.
 */
export class PreviewChoice {
  /** Best first; 20 at most. */
  readonly #entries: Entry[] = [];
  /** URIs of images that are expected and not chosen, in the order in which they will probably be added. */
  readonly #declined: string[] = [];
  /** How many of the first URIs in `#declined` were added or passed over. */
  #added = 0;
  /** The URI that was hashed last, and its hash. */
  #lastUri = '';
  #last: Hashed = { uri: '', hash: 0 };
  /**
   * The last result of #entriesOf: the number of a group, of its entries, and the largest priority of these entries.
   */
  #ofGroup = { number: -1, entries: 0, mostPriority: 0 };
  /** The last number given to a group. A group keeps its number while it has entries or is the last one. */
  #groups = 0;
  #lastGroup = { name: '', number: 0 };

  /** `expected` are sources that will probably be listed, in their order. */
  constructor(expected: Iterable<PreviewCandidate> = []) {
    for (const candidate of expected) this.expect(candidate);
  }

  /** Announces a source that will probably be listed. */
  expect(candidate: PreviewCandidate): void {
    const isChosen = this.#insert(candidate, undefined);
    if (isChosen || candidate.frame !== undefined || this.#declined.length - this.#added >= mostDeclined) return;
    this.#declined.push(candidate.uri);
  }

  /**
   * Adds a source. Returns whether it is among the 20 so far. A source added twice counts once, with its last index.
   */
  add(index: number, candidate: PreviewCandidate): boolean {
    // A source that is not chosen among some is not chosen among more either.
    const { uri, frame } = candidate;
    return !(frame === undefined && this.#isDeclined(uri)) && this.#insert(candidate, index);
  }

  /**
   * Whether the source was expected and not chosen. URIs are compared in order, because looking up their hashes in a
   * map took a seventh of a plan's time (measured).
   */
  #isDeclined(uri: string): boolean {
    const declined = this.#declined;
    const at = declined[this.#added] === uri ? this.#added : declined.indexOf(uri, this.#added);
    if (at < 0) return false;
    this.#added = at + 1;
    if (this.#added >= mostDeclined) {
      declined.splice(0, this.#added);
      this.#added = 0;
    }
    return true;
  }

  /** Indexes of the chosen sources. */
  get chosen(): Set<number> {
    return new Set(this.#entries.flatMap(({ index }) => index ?? []));
  }

  /** The chosen sources, best first. */
  get candidates(): PreviewCandidate[] {
    return this.#entries.map(({ uri, frame }) => ({ uri, frame }));
  }

  #insert({ uri: given, frame }: PreviewCandidate, index: number | undefined): boolean {
    const { uri, hash } = this.#hashOf(given);
    const priority = (hash ^ reversedBits(frame ?? 0)) >>> 0;
    const group = this.#groupOf(uri, frame);
    const own = this.#entriesOf(group);
    // Ends here for nearly all sources of a large folder: going through the entries took a fifth of a plan's time
    // (measured).
    if ((own.entries === 0 || priority > own.mostPriority) && this.#isBehindAll(own.entries, priority)) return false;
    let rank = 0;
    for (const other of this.#entries) {
      if (other.priority === priority && other.frame === frame && other.uri === uri) {
        other.index = index ?? other.index;
        return true;
      }
      if (other.group === group && other.priority <= priority) rank++;
    }
    if (this.#isBehindAll(rank, priority)) return false;
    for (const other of this.#entries) if (other.group === group && other.priority > priority) other.rank++;
    this.#entries.push({ uri, frame, group, priority, index, rank });
    this.#entries.sort(byRank);
    if (this.#entries.length > previewSources) this.#entries.pop();
    this.#ofGroup.number = -1;
    return true;
  }

  /** Whether 20 others come before a source of this rank and priority, so that it is not chosen. */
  #isBehindAll(rank: number, priority: number): boolean {
    const worst = this.#entries[previewSources - 1];
    return worst !== undefined && (worst.rank - rank || worst.priority - priority) <= 0;
  }

  #entriesOf(group: number): { entries: number; mostPriority: number } {
    const of = this.#ofGroup;
    if (of.number === group) return of;
    Object.assign(of, { number: group, entries: 0, mostPriority: 0 });
    for (const entry of this.#entries) {
      if (entry.group !== group) continue;
      of.entries++;
      of.mostPriority = Math.max(of.mostPriority, entry.priority);
    }
    return of;
  }

  /** The number of a source's group. Tries the last group first: the sources of a folder mostly come in a row. */
  #groupOf(uri: string, frame: number | undefined): number {
    const last = this.#lastGroup;
    if (frame === undefined ? isIn(last.name, uri) : uri === last.name) return last.number;
    const name = frame === undefined ? uri.slice(0, uri.lastIndexOf('/')) : uri;
    const known = this.#entries.find((one) => groupName(one) === name);
    this.#lastGroup = { name, number: known?.group ?? ++this.#groups };
    return this.#lastGroup.number;
  }

  /** The hash of a URI. Keeps the last one, because the frames of a video come in a row. */
  #hashOf(uri: string): Hashed {
    if (uri !== this.#lastUri) {
      this.#lastUri = uri;
      this.#last = hashed(uri);
    }
    return this.#last;
  }
}

/** A redacted URI, and the first 32 bits of its SHA-256. */
interface Hashed {
  uri: string;
  hash: number;
}

function hashed(uri: string): Hashed {
  const shown = redactUri(uri);
  // A 'binary' text takes a quarter of the time that a buffer takes (measured), and each of its characters is a byte.
  const digest = hash('sha256', shown, 'binary');
  let first = 0;
  for (let i = 0; i < 4; i++) first = (first << 8) | digest.charCodeAt(i);
  return { uri: shown, hash: first >>> 0 };
}

/** The most expected URIs that are remembered as not chosen until they are added. */
const mostDeclined = 2048;

const groupName = ({ uri, frame }: Entry): string => (frame === undefined ? uri.slice(0, uri.lastIndexOf('/')) : uri);

const byRank = (a: Entry, b: Entry): number => a.rank - b.rank || a.priority - b.priority;

/** Reverses the 32 bits of a number: the lowest becomes the highest. */
function reversedBits(value: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) reversed |= ((value >>> bit) & 1) << (31 - bit);
  return reversed >>> 0;
}

const slash = 0x2f;

/** Whether a file lies directly in a folder. To search from the end takes two thirds more time (measured). */
const isIn = (folder: string, uri: string): boolean =>
  uri.charCodeAt(folder.length) === slash && uri.startsWith(folder) && uri.indexOf('/', folder.length + 1) < 0;
