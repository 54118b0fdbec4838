import { marker } from './markers.ts';
import { nextMarker } from './next-marker.ts';
import { readSegment, type Segments, Unusual } from './read-segment.ts';
import { readScan, type ScanEnd, walkScan } from './scan.ts';

/** A JPEG without the bytes that do not belong to it. */
export interface MendedJpeg {
  bytes: Uint8Array;
  /**
   * A sentence that says what was removed. There are only a few such sentences, so that files can be counted by them.
   */
  mended: string;
}

/** Where bytes are removed. */
const allPlaces = ['between segments', 'in front of restart markers', 'behind the last pixel'] as const;
type Place = (typeof allPlaces)[number];

/** This many bytes after the last pixel may have any content: some encoders fill up a cache line. */
const anyBytes = 64;

const endMarker = Uint8Array.of(0xff, marker.endOfImage);

/**
 * Removes bytes that do not belong to a JPEG. Only markers and codes are read to find them: a second start marker;
 * bytes between segments, such as after a segment that is longer than it says; bytes between a block and the restart
 * marker that is expected next; and bytes after the last block of the image. A decoder that stops at the first warning
 * must then accept the result.
 *
 * Returns undefined if there is nothing to remove, and if data is lost: a segment with a damaged marker, undefined
 * codes, missing blocks, an unexpected restart marker, or more than 64 bytes after the last block that decode as
 * further blocks, as if the header states too few rows. The codes of JPEGs that are not baseline are not read: after
 * their header, only zeros before the end marker are removed.
 */
export function* mendJpeg(jpeg: Uint8Array): Generator<undefined, MendedJpeg | undefined> {
  const mender = new Mender(jpeg);
  const scan = mender.takeHeader();
  return scan && (yield* mender.takeScans(scan)) ? mender.result() : undefined;
}

/** The same for the header alone. */
export function mendHeader(jpeg: Uint8Array): MendedJpeg | undefined {
  const mender = new Mender(jpeg);
  return mender.takeHeader() ? mender.result() : undefined;
}

/** A SOS segment, and the place of the byte after it. */
interface ScanHeader {
  segment: Uint8Array;
  end: number;
}

class Mender {
  readonly #jpeg: Uint8Array;
  readonly #kept: Uint8Array[] = [];
  /** Where the next kept bytes begin. */
  #from = 0;
  readonly #places = new Set<Place>();
  readonly #found: Segments = { quantisers: [], dc: [], ac: [], restartMcus: 0, isJfif: false };
  /** Whether all segments so far may belong to a baseline file. */
  #isBaseline = true;

  constructor(jpeg: Uint8Array) {
    this.#jpeg = jpeg;
  }

  /** Returns undefined if data is lost. */
  takeHeader(): ScanHeader | undefined {
    const isJpeg = this.#jpeg[0] === 0xff && this.#jpeg[1] === marker.startOfImage;
    return isJpeg ? this.#takeSegments(2) : undefined;
  }

  /** Returns false if data is lost. */
  *takeScans(first: ScanHeader): Generator<undefined, boolean> {
    const scanned = new Set<number>();
    for (let next: ScanHeader | undefined = first; next; ) {
      const { segment, end } = next;
      const scan = this.#tryBaseline(() => readScan(segment, this.#found));
      if (!scan) return this.#takeUnknown(end);
      const walked = yield* walkScan(this.#jpeg, end, scan);
      if (!walked) return false;
      for (const [from, to] of walked.gaps) this.#leaveOut('in front of restart markers', from, to);
      for (const id of scan.ids) scanned.add(id);
      if (this.#found.frame!.components.every(({ id }) => scanned.has(id))) return this.#takeEnd(walked);
      next = this.#takeSegments(walked.end);
    }
    return false;
  }

  /** Takes segments up to a SOS and returns that; undefined if data is lost before it. */
  #takeSegments(from: number): ScanHeader | undefined {
    const jpeg = this.#jpeg;
    for (let at = from; ; ) {
      const found = nextMarker(jpeg, at);
      if (!found || found.code === marker.endOfImage || isSegment(jpeg.subarray(at, found.from))) return undefined;
      this.#leaveOut('between segments', at, found.from);
      if (found.code === marker.startOfImage && at === 2) {
        this.#leaveOut('between segments', found.from, found.end);
        at = found.end;
        continue;
      }
      at = found.end + ((jpeg[found.end]! << 8) | jpeg[found.end + 1]!);
      // This also refuses a marker without a length.
      if (!(at >= found.end + 2 && at <= jpeg.length)) return undefined;
      const segment = jpeg.subarray(found.end + 2, at);
      if (found.code === marker.startOfScan) return { segment, end: at };
      this.#tryBaseline(() => readSegment(found.code, segment, this.#found));
    }
  }

  result(): MendedJpeg | undefined {
    if (this.#places.size === 0) return undefined;
    const bytes = Buffer.concat([...this.#kept, this.#jpeg.subarray(this.#from)]);
    const places = allPlaces.filter((place) => this.#places.has(place));
    return { bytes, mended: `JPEG bytes that hold no pixel were passed over ${places.join(' and ')}` };
  }

  #tryBaseline<T>(read: () => T): T | undefined {
    if (!this.#isBaseline) return undefined;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Unusual)) throw error;
      this.#isBaseline = false;
      return undefined;
    }
  }

  /**
   * The image ends after its last block; what follows is removed. If the end marker is missing, some bytes must follow:
   * they show that the file is not cut off.
   */
  #takeEnd({ end, hasMore }: ScanEnd): boolean {
    const jpeg = this.#jpeg;
    const marked = indexOfEnd(jpeg.subarray(end));
    const bytes = jpeg.subarray(end, marked < 0 ? jpeg.length : end + marked);
    const isCut = marked < 0 && bytes.length === 0;
    if (isCut || (bytes.length > anyBytes && hasMore && !isOneByte(bytes))) return false;
    this.#leaveOut('behind the last pixel', end, end + bytes.length);
    if (marked < 0) this.#kept.push(endMarker);
    return true;
  }

  /** Removes zeros before the end marker of a JPEG whose codes are not read. */
  #takeUnknown(at: number): boolean {
    const end = Buffer.from(this.#jpeg.buffer, this.#jpeg.byteOffset, this.#jpeg.length).lastIndexOf(endMarker);
    let from = end;
    while (from > at && this.#jpeg[from - 1] === 0) from--;
    // A zero after FF belongs to the data.
    if (this.#jpeg[from - 1] === 0xff) from++;
    this.#leaveOut('behind the last pixel', from, end);
    return true;
  }

  #leaveOut(place: Place, from: number, to: number): void {
    if (to <= from) return;
    this.#kept.push(this.#jpeg.subarray(this.#from, from));
    this.#from = to;
    this.#places.add(place);
  }
}

const indexOfEnd = (bytes: Uint8Array): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(endMarker);

/** Whether bytes are a segment that decoding needs, with a wrong first byte of its marker. */
function isSegment(bytes: Uint8Array): boolean {
  const [, code = 0] = bytes;
  const isOfOthers = code < 0xc0 || code === marker.com || (code > marker.app0 && code !== marker.app14);
  return !isOfOthers && bytes.length >= 4 && bytes.length === 2 + ((bytes[2]! << 8) | bytes[3]!);
}

const isOneByte = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === bytes[0]);
