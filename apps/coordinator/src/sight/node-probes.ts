import type { OutputLack } from '@halogrid/jobs/output-lack';
import { Cause, type Probe, pathIn, placeOfNeed, type SeenFile, type Sight } from '@halogrid/proto';
import { type InputFault, redactUri } from '@halogrid/sources';
import { isHostGone } from './is-host-gone.ts';
import type { Eyes } from './own-view.ts';
import { type Sample, SampleFiles } from './samples.ts';

/** Whether a node has shown that it meets a need. */
export type Shown =
  | { kind: 'NeedShown' }
  /** `own`: why the coordinator cannot write results either. */
  | { kind: 'NeedLacked'; reason: string; own?: OutputLack };

/** The node that is asked. */
export interface Asked {
  session: number;
  /** It does not share our storage: the coordinator reads and writes for it. */
  isRemote: boolean;
  /** The version of its time-zone data, from its hello. */
  timeZoneData: string;
  probe(probe: Probe): void;
}

/** A sample as the coordinator sees it. */
interface Expected extends Sample {
  version: string;
  sha256: Uint8Array;
}

interface Pending {
  session: number;
  need: string;
  expected: Expected[];
  /** Files of a host that the coordinator cannot read itself: the node tries to read them. */
  unseen?: readonly Sample[];
}

/** What the coordinator sees is used for this long: a thousand nodes may be asked at once. */
const expectedForMs = 2_000;

/**
 * Has nodes show what they can do: makes probes from what the coordinator sees itself, and finds out from the answers
 * whether a node sees the same. If the coordinator cannot see a place itself, it believes that nodes can, until they
 * fail.
 */
export class NodeProbes {
  readonly samples = new SampleFiles();
  readonly #eyes: Eyes;
  readonly #nowMs: () => number;
  readonly #tell: (session: number, need: string, shown: Shown) => void;
  readonly #pending = new Map<number, Pending>();
  /** Identities of roots when the coordinator first listed or saw something there, by need. */
  readonly #identities = new Map<string, Promise<string | undefined>>();
  readonly #recent = new Map<string, { untilMs: number; expected: Promise<Expected[]> }>();
  #last = 0;

  constructor(eyes: Eyes, nowMs: () => number, tell: (session: number, need: string, shown: Shown) => void) {
    this.#eyes = eyes;
    this.#nowMs = nowMs;
    this.#tell = tell;
  }

  /** Something below the root was listed just now, so the root is there. */
  listed(need: string): void {
    if (!this.#identities.has(need)) this.#identities.set(need, this.#eyes.identify(placeOf(need)));
  }

  /** Asks the node. `tell` is called with the result later, or never if the node does not answer. */
  async ask(node: Asked, need: string): Promise<void> {
    const { session } = node;
    const [verb] = need.split(' ');
    const place = placeOf(need);
    const isThroughUs = node.isRemote && place.startsWith('file:');
    if (verb === 'write' && isThroughUs) {
      this.#tell(session, need, shownOfWriting('', await this.#eyes.whyNotWritten(place, '')));
      return;
    }
    if (verb === 'zones' && node.timeZoneData !== place) {
      await undefined;
      const reason = `its time-zone data are ${node.timeZoneData || 'unknown'}`;
      this.#tell(session, need, { kind: 'NeedLacked', reason });
      return;
    }
    if (verb === 'decode' || verb === 'zones' || isThroughUs) {
      // Believed without a probe: the node's hello said what it lacks, after a failure it may work again, and files
      // that it reads through the coordinator are there.
      await undefined;
      this.#tell(session, need, { kind: 'NeedShown' });
      return;
    }
    if (verb === 'write') {
      node.probe(this.#number({ session, need, expected: [] }, place));
      return;
    }
    const expected = await this.#expected(need);
    const unseen = placeOfNeed(need) === undefined ? [] : this.samples.of(need);
    if (expected.length > 0) node.probe(this.#number({ session, need, expected }, ''));
    else if (unseen.length > 0) node.probe(this.#number({ session, need, expected, unseen }, ''));
    else if (await this.isGone(need)) {
      this.#tell(session, need, { kind: 'NeedLacked', reason: 'the coordinator cannot read it any more either' });
    } else this.#tell(session, need, { kind: 'NeedShown' });
  }

  /** Takes the answer to a probe; ignores an answer without a probe. */
  async answered(session: number, sight: Sight): Promise<void> {
    const pending = this.#pending.get(sight.probe);
    if (pending?.session !== session) return;
    this.#pending.delete(sight.probe);
    const { need, expected, unseen } = pending;
    const { error } = sight;
    if (error) {
      this.#tell(session, need, shownOfWriting(error, await this.#eyes.whyNotWritten(placeOf(need), error)));
      return;
    }
    const reason = unseen ? whyAway(unseen, sight.files) : await this.#whyNot(expected, sight.files);
    this.#tell(session, need, reason ? { kind: 'NeedLacked', reason } : { kind: 'NeedShown' });
  }

  /** The conversation is over. */
  left(session: number): void {
    for (const [number, pending] of this.#pending) if (pending.session === session) this.#pending.delete(number);
  }

  /** No job has the need any more. */
  forget(need: string): void {
    this.samples.forget(need);
    this.#identities.delete(need);
    this.#recent.delete(need);
  }

  /**
   * Whether a root is gone for the coordinator itself, so that it cannot judge files below it. The root is gone if it
   * is another folder than before, such as one on which nothing is mounted any more; or if an earlier process listed
   * it, and this one has not seen anything there yet.
   */
  async isGone(need: string): Promise<boolean> {
    if (!need.startsWith('read file:')) return false;
    if (!this.#identities.has(need)) return this.samples.wasListed(need);
    const before = await this.#identities.get(need);
    return before !== undefined && (await this.#eyes.identify(placeOf(need))) !== before;
  }

  /**
   * Whether the whole host or bucket of a need fails, after the coordinator could not read one of its files. A host
   * that refuses keys is not closed as a whole if the coordinator never saw a file of it, but a node has read some
   * (`hasSome`): the node may have other keys.
   */
  async isHostGone(need: string, failed: { uri: string; fault: InputFault }, hasSome: boolean): Promise<boolean> {
    if (placeOfNeed(need) === undefined) return false;
    const wasSeen = this.#identities.has(need) || this.samples.wasListed(need);
    if (failed.fault === 'closed' && hasSome && !wasSeen) return false;
    return await isHostGone(this.#eyes, failed, this.samples.listedOf(need));
  }

  #number(pending: Pending, write: string): Probe {
    const probe = ++this.#last;
    this.#pending.set(probe, pending);
    const files = (pending.unseen ?? pending.expected).map(({ uri, isWhole: whole }) => ({ uri, whole }));
    return { probe, files, write };
  }

  /** The samples of a root that the coordinator can read, as they are now. */
  #expected(need: string): Promise<Expected[]> {
    const known = this.#recent.get(need);
    const nowMs = this.#nowMs();
    if (known && nowMs < known.untilMs) return known.expected;
    const expected = this.#look(need);
    this.#recent.set(need, { untilMs: nowMs + expectedForMs, expected });
    return expected;
  }

  async #look(need: string): Promise<Expected[]> {
    const looked = await Promise.all(this.samples.of(need).map((sample) => this.#see(sample)));
    const seen = looked.filter((sample) => sample !== undefined);
    if (seen.length > 0) this.listed(need);
    return seen;
  }

  async #see(sample: Sample): Promise<Expected | undefined> {
    const view = await this.#eyes.see(sample.uri, sample.isWhole);
    return view.kind === 'there' ? { ...sample, version: view.file.version, sha256: view.file.sha256 } : undefined;
  }

  /** Why the node does not see what the coordinator sees; undefined if it does. */
  async #whyNot(expected: readonly Expected[], files: readonly SeenFile[]): Promise<string | undefined> {
    for (const [i, file] of expected.entries()) {
      const why = difference(file, files[i]);
      if (!why) continue;
      // A file that was removed or changed since the coordinator looked, such as a growing recording, proves nothing.
      const now = await this.#see(file);
      if (now && !difference(file, { ...now, error: '' })) return `${why} (${sayUri(file.uri)})`;
    }
    return undefined;
  }
}

/**
 * The result for a node that could not write for `reason`; an empty reason: the node writes through the coordinator. If
 * the coordinator cannot write either, its own reason counts.
 */
function shownOfWriting(reason: string, own: OutputLack | undefined): Shown {
  if (own) return { kind: 'NeedLacked', reason: own.error, own };
  return reason ? { kind: 'NeedLacked', reason } : { kind: 'NeedShown' };
}

/** How the file that the node sees differs from the coordinator's; undefined if it does not. */
function difference(expected: Expected, seen: Omit<SeenFile, 'cause'> | undefined): string | undefined {
  if (!seen) return 'It has not shown the file';
  if (seen.error) return seen.error;
  if (seen.version !== expected.version) {
    return `It is another file there: size and time of change, or ETag, are '${seen.version}' and not '${expected.version}'`;
  }
  return Buffer.compare(seen.sha256, expected.sha256) === 0
    ? undefined
    : 'It is another file there: its content differs';
}

/**
 * Why the host of the samples is away or closed for the node. Undefined unless every file shows it; a single closed
 * file does not suffice.
 */
function whyAway(samples: readonly Sample[], files: readonly SeenFile[]): string | undefined {
  const [first] = samples.map(({ uri }, i) => `${files[i]?.error} (${sayUri(uri)})`);
  const isAway = ({ cause }: SeenFile): boolean => cause === Cause.AWAY || (cause === Cause.CLOSED && files.length > 1);
  return files.every(isAway) ? first : undefined;
}

/** The folder, host or bucket that a need is about. */
const placeOf = (need: string): string => need.slice(need.indexOf(' ') + 1);

/** A file as a person would name it. */
export const sayUri = (uri: string): string => (uri.startsWith('file:') ? pathIn(uri) : redactUri(uri));
