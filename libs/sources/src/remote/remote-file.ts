import { forEachLimited } from '@halogrid/threads';
import { giveBackBytes, takeBytes } from '../byte-pool.ts';
import { formatOfName, formats, hasVideoExtension, holdsSources } from '../formats.ts';
import { InputError } from '../input-error.ts';
import { memberUri, splitMember, type TarMember } from '../member-uri.ts';
import { type FileVersion, surelyVersionName, versionName } from '../version-name.ts';
import type { HttpAnswer } from './ask.ts';
import { type ByteRange, cutRange, joinRanges } from './byte-ranges.ts';
import { fetchPart, fillFromBody, type PartSource, sentOf } from './fetch-part.ts';
import { withFetchedBytes } from './fetched-bytes.ts';
import { changed, checkSameVersion, onlyThisVersion, versionOf } from './file-version.ts';
import { get } from './get.ts';
import { readWhole } from './read-whole.ts';
import { defaultRemoteLimits, type RemoteLimits } from './remote-limits.ts';
import { type RemoteTarget, remoteTarget } from './remote-target.ts';
import { SparseCopy } from './sparse-copy.ts';
import { TransferError } from './transfer-error.ts';

/** Bytes that are fetched at first: enough for the whole of most video frames, so that they cost one request. */
const headBytes = 2 ** 20;
/**
 * The same for a file that is read by region or by segment: enough for its header, because each of these opens the file
 * again.
 */
const regionHeadBytes = 2 ** 16;

function isReadByRegion(uri: string): boolean {
  const format = formatOfName(uri);
  if (holdsSources(uri)) return true;
  return format ? formats[format].reading === 'regions' : hasVideoExtension(uri);
}

/**
 * A file on a server, or a member of a tar there, and its first bytes. The rest is requested as it is needed, always
 * from the same version of the file. A server that cannot send parts is read once, from beginning to end. What the file
 * gives out is valid until it is closed.
 */
export class RemoteFile {
  readonly kind = 'remote';
  readonly sizeBytes: number;
  /** The first 64 KiB or 1 MiB, or all of a smaller file. */
  readonly head: Buffer;
  readonly gapBytes: number;
  readonly #target: RemoteTarget;
  /** The member of the tar at the target whose bytes are the file. */
  readonly #member: TarMember | undefined;
  readonly #limits: RemoteLimits;
  readonly #version: FileVersion;
  readonly #memory: Buffer<ArrayBuffer>[];
  /** All of the file, if it was read whole into memory. */
  #whole: Buffer | undefined;
  #copy: SparseCopy | undefined;
  /** Settles when no part is being copied. */
  #copying: Promise<void> = Promise.resolve();
  readonly #wire: { bytes: number };

  private constructor(
    target: RemoteTarget,
    limits: RemoteLimits,
    found: { version: FileVersion; sizeBytes: number; head: Buffer; memory: Buffer<ArrayBuffer>[] },
    wire: { bytes: number },
    { copy, member }: { copy?: SparseCopy | undefined; member?: TarMember | undefined } = {},
  ) {
    this.#target = target;
    this.#member = member;
    this.#limits = limits;
    this.gapBytes = limits.gapBytes;
    this.#version = found.version;
    this.sizeBytes = found.sizeBytes;
    this.head = found.head;
    this.#memory = found.memory;
    this.#wire = wire;
    this.#copy = copy;
    if (found.head.length === found.sizeBytes) this.#whole = found.head;
  }

  /** Rejects with InputError if the file cannot be fetched, or is empty. */
  static async open(uri: string, limits: RemoteLimits = defaultRemoteLimits): Promise<RemoteFile> {
    const target = remoteTarget(uri);
    const { member } = splitMember(uri);
    if (member?.length === 0) throw new InputError('decode', 'The file is empty (0 bytes)');
    const base = member?.start ?? 0;
    const wanted = Math.min(isReadByRegion(uri) ? regionHeadBytes : headBytes, member?.length ?? headBytes);
    const wire = { bytes: 0 };
    const openWhole = async (answer: HttpAnswer, version: FileVersion): Promise<RemoteFile> => {
      if (member) throw noParts();
      const { bytes, copy, sizeBytes } = await readWhole(answer, limits, wire);
      const found = { version: { ...version, sizeBytes }, sizeBytes, head: bytes, memory: [bytes] };
      return new RemoteFile(target, limits, found, wire, { copy });
    };
    const first = await get(target, { range: `bytes=${base}-${base + wanted - 1}` }, limits, async (answer) => {
      const version = versionOf(answer);
      if (answer.status === 200) return await openWhole(answer, version);
      const { end, total } = sentOf(answer, { start: base, end: base + wanted });
      if (total === undefined) return { version };
      if (member && base + member.length > total) throw changed('its tar has become shorter');
      const sizeBytes = member?.length ?? total;
      const head = takeBytes(Math.min(sizeBytes, wanted));
      try {
        await fillFromBody(head.subarray(0, end - base), answer, wire);
      } catch (error) {
        giveBackBytes(head);
        throw error;
      }
      return { version, sizeBytes, head, headEnd: end - base };
    });
    if (first instanceof RemoteFile) return first;
    const { version, sizeBytes, head, headEnd } = first;
    if (head === undefined) {
      // The server does not say how long the file is. Requesting the whole file shows it.
      if (member) throw noParts();
      return await get(target, onlyThisVersion(version), limits, async (answer) => {
        checkSameVersion(version, answer);
        if (answer.status === 200) return await openWhole(answer, version);
        throw new TransferError('The server sends a part of the file without saying of how many bytes');
      });
    }
    try {
      await fetchPart({ target, limits, version, wire }, head.subarray(headEnd), base + headEnd);
    } catch (error) {
      giveBackBytes(head);
      throw error;
    }
    return new RemoteFile(target, limits, { version, sizeBytes, head, memory: [head] }, wire, { member });
  }

  /** A name for the version that is read; for a member, the version of its tar. */
  get version(): string {
    return versionName({ ...this.#version, sizeBytes: this.#member ? this.#version.sizeBytes : this.sizeBytes });
  }

  /** Whether the version changes with the content, and not only with the size. */
  get hasSureVersion(): boolean {
    return surelyVersionName(this.#version) !== undefined;
  }

  get uri(): string {
    return this.#member ? memberUri(this.#target.uri, this.#member) : this.#target.uri;
  }

  /** Bytes that came over the network so far. */
  get bytesRead(): number {
    return this.#wire.bytes;
  }

  /** Fills `into` from byte `position` of the file. Rejects with InputError if the file ends before that. */
  async read(into: Uint8Array, position: number): Promise<void> {
    const end = position + into.length;
    if (end > this.sizeBytes) {
      throw new InputError('decode', `The file is truncated: it ends at byte ${this.sizeBytes}, inside the image`);
    }
    const known = this.#whole ?? this.head;
    const fromMemory = known.subarray(position, end);
    into.set(fromMemory);
    if (fromMemory.length === into.length) return;
    const rest = into.subarray(fromMemory.length);
    const start = end - rest.length;
    const base = this.#member?.start ?? 0;
    if (this.#copy?.missing({ start, end }).length === 0) return await this.#copy.read(rest, start);
    await forEachLimited(cutRange({ start, end }, this.#limits.partBytes), this.#limits.partsInFlight, (part) =>
      fetchPart(this.#source, rest.subarray(part.start - start, part.end - start), base + part.start),
    );
  }

  /** All of the file; nothing is read twice. */
  async readAll(): Promise<Buffer> {
    if (!this.#whole) {
      const all = takeBytes(this.sizeBytes);
      this.#memory.push(all);
      await this.read(all, 0);
      this.#whole = all;
    }
    return this.#whole;
  }

  /**
   * All of the file for a decoder that reads it whole: in memory if it is small, or else the path of a temporary copy.
   */
  async whole(): Promise<string | Buffer> {
    if (this.#whole || (!this.#copy && this.sizeBytes <= this.#limits.memoryBytes)) return await this.readAll();
    return await this.copyParts([{ start: 0, end: this.sizeBytes }]);
  }

  /**
   * The path of a temporary file that holds these parts of the file, and all that were asked for before, each at its
   * place, with zeros between. It is removed when the RemoteFile is closed. Parts beyond the end of the file are left
   * out.
   */
  async copyParts(ranges: readonly ByteRange[]): Promise<string> {
    // One after another, so that what two callers need is fetched once.
    const before = this.#copying;
    const copied = before.catch(() => {}).then(() => this.#copyMissing(ranges));
    this.#copying = copied.then(() => {});
    this.#copying.catch(() => {});
    return await copied;
  }

  /** Call it after the last read has settled. May be called again. */
  async close(): Promise<void> {
    for (const bytes of this.#memory.splice(0)) giveBackBytes(bytes);
    const copy = this.#copy;
    this.#copy = undefined;
    await copy?.close();
  }

  async #copyMissing(ranges: readonly ByteRange[]): Promise<string> {
    this.#copy ??= await SparseCopy.create(this.sizeBytes);
    const copy = this.#copy;
    const { gapBytes, partBytes, partsInFlight } = this.#limits;
    const inside = ranges.map(({ start, end }) => ({ start, end: Math.min(end, this.sizeBytes) }));
    const missing = inside.filter(({ start, end }) => start < end).flatMap((range) => copy.missing(range));
    const parts = joinRanges(missing, gapBytes).flatMap((range) => cutRange(range, partBytes));
    const fetch = async (part: ByteRange): Promise<void> => {
      const bytes = takeBytes(part.end - part.start);
      try {
        await this.read(bytes, part.start);
        await copy.write(bytes, part.start);
      } finally {
        giveBackBytes(bytes);
      }
    };
    await forEachLimited(parts, partsInFlight, (part) =>
      withFetchedBytes(this.#target.place, part.end - part.start, () => fetch(part)),
    );
    return copy.path;
  }

  get #source(): PartSource {
    return { target: this.#target, limits: this.#limits, version: this.#version, wire: this.#wire };
  }
}

const noParts = (): InputError =>
  new InputError('read', 'The server cannot send parts of a file, so its tars are not read: unpack them');
