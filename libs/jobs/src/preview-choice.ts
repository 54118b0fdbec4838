import { hash } from 'node:crypto';
import { redactUri } from '@halogrid/sources';

/** Sources that get a preview, where there are as many. */
export const previewSources = 20;

/** A source as a choice knows it: an image by its URI, a frame by that of its video and its number. */
export interface PreviewCandidate {
  uri: string;
  frame?: number;
}

interface Entry {
  /** The file, or the video. */
  uri: string;
  frame: number | undefined;
  /** Number of its folder, or of the video. */
  group: number;
  /** 32 bits; the least of a group is chosen first. */
  priority: number;
  /** How many of its group come before it. */
  rank: number;
  /** In the job; undefined for what an earlier job had, until it is listed. */
  index: number | undefined;
}

/**
 * Chooses the sources of which previews are made: one of each folder and of each video, then a second one of each, and
 * so on, until there are 20. Which of a folder comes first is decided by the SHA-256 of its URI, and frames of a video
 * are spread over it: the number of a frame with its bits reversed (van der Corput's sequence) is added to the hash
 * without carries.
 *
 * So the choice follows from the list of sources alone. A source that is not chosen among some is not chosen among more
 * either: those that are added as they are listed leave out nobody who is chosen at the end. Where m of n sources are
 * expected when the first is added, about 20 ln(n / m) are chosen for a time (46 of 10,000, 138 of a million, where
 * 1,024 are expected). An archive that grows needs no preview of what it had before.
 */
export class PreviewChoice {
  /** Best first; 20 at most. */
  readonly #entries: Entry[] = [];
  /** URIs of images that are expected and not chosen, in the order in which they will probably be added. */
  readonly #declined: string[] = [];
  /** How many of them were added. */
  #added = 0;
  /** What is known of the last one. */
  #lastUri = '';
  #last: Hashed = { uri: '', hash: 0 };
  /** The group that was asked for last: how many entries it has, and the largest priority of those. */
  #ofGroup = { number: -1, entries: 0, mostPriority: 0 };
  /** Folders and videos are numbered where they come after others: those of the entries, and the last one. */
  #groups = 0;
  #lastGroup = { name: '', number: 0 };

  /** `expected` are sources that will probably be listed, in their order. */
  constructor(expected: Iterable<PreviewCandidate> = []) {
    for (const candidate of expected) this.expect(candidate);
  }

  /** A source that will be listed. */
  expect(candidate: PreviewCandidate): void {
    const isChosen = this.#insert(candidate, undefined);
    if (isChosen || candidate.frame !== undefined || this.#declined.length - this.#added >= mostDeclined) return;
    this.#declined.push(candidate.uri);
  }

  /**
   * Whether the source is among the 20 so far. The same one may be added again, and counts once: its last index is
   * kept.
   */
  add(index: number, candidate: PreviewCandidate): boolean {
    // A source that is not chosen among some is not chosen among more either.
    const { uri, frame } = candidate;
    return !(frame === undefined && this.#isDeclined(uri)) && this.#insert(candidate, index);
  }

  /**
   * Whether it is known already that it is not chosen. Looking for their hashes in a map was a seventh of a plan's time
   * (measured).
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

  /** Indexes of the sources that are chosen. */
  get chosen(): Set<number> {
    return new Set(this.#entries.flatMap(({ index }) => index ?? []));
  }

  /** What is chosen, best first. */
  get candidates(): PreviewCandidate[] {
    return this.#entries.map(({ uri, frame }) => ({ uri, ...(frame !== undefined && { frame }) }));
  }

  #insert({ uri: given, frame }: PreviewCandidate, index: number | undefined): boolean {
    const { uri, hash } = this.#hashOf(given);
    const priority = (hash ^ reversedBits(frame ?? 0)) >>> 0;
    const group = this.#groupOf(uri, frame);
    const own = this.#entriesOf(group);
    // Nearly all of a large folder: each entry was looked at for them, which took a fifth of a plan's time (measured).
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

  /** Whether a source of that rank and priority is not chosen, because 20 others are before it. */
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

  /** Those of a folder come one after another, mostly. */
  #groupOf(uri: string, frame: number | undefined): number {
    const last = this.#lastGroup;
    if (frame === undefined ? isIn(last.name, uri) : uri === last.name) return last.number;
    const name = frame === undefined ? uri.slice(0, uri.lastIndexOf('/')) : uri;
    const known = this.#entries.find((one) => groupName(one) === name);
    this.#lastGroup = { name, number: known?.group ?? ++this.#groups };
    return this.#lastGroup.number;
  }

  /** Frames of a video come one after another. */
  #hashOf(uri: string): Hashed {
    if (uri !== this.#lastUri) {
      this.#lastUri = uri;
      this.#last = hashed(uri);
    }
    return this.#last;
  }
}

/** A URI as it may be shown, and 32 bits of the SHA-256 of that. */
interface Hashed {
  uri: string;
  hash: number;
}

function hashed(uri: string): Hashed {
  const shown = redactUri(uri);
  // As text it takes a quarter of the time that a buffer takes (measured), and nothing need be parsed where a character
  // is a byte.
  const digest = hash('sha256', shown, 'binary');
  let first = 0;
  for (let i = 0; i < 4; i++) first = (first << 8) | digest.charCodeAt(i);
  return { uri: shown, hash: first >>> 0 };
}

/** URIs that are kept from when they are expected to when they are added: those that are listed ahead. */
const mostDeclined = 2048;

const groupName = ({ uri, frame }: Entry): string => (frame === undefined ? uri.slice(0, uri.lastIndexOf('/')) : uri);

const byRank = (a: Entry, b: Entry): number => a.rank - b.rank || a.priority - b.priority;

/** A number of 32 bits with those in reverse: the lowest becomes the highest. */
function reversedBits(value: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) reversed |= ((value >>> bit) & 1) << (31 - bit);
  return reversed >>> 0;
}

const slash = 0x2f;

/** Whether a file lies in a folder, not below it. The end is not gone back from: that takes two thirds more time (measured). */
const isIn = (folder: string, uri: string): boolean =>
  uri.charCodeAt(folder.length) === slash && uri.startsWith(folder) && uri.indexOf('/', folder.length + 1) < 0;
