import type { FrameOfVideo, ImageSize, PlanStep, Shard, ShardWork, SourceRef } from '../../shard.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** The first byte of a step, or of the version of the sources that follow. */
const tags = { source: 0, quarantine: 1, frames: 2, tile: 3, kept: 4, version: 5, pinnedTile: 6 } as const;

/** How many bits the pixels of a size have: nothing is known of both, or of the bits alone. */
const sizes = ['none', undefined, 'u8', 'u16'] as const;

/** What is likely to come next, so that a step says little where it is as expected. A block begins with a new one. */
class Expected {
  uri = '';
  version: string | undefined;
  /** Of the source of a tile, as it was opened. */
  pinned = '';
  source = 0;
  shard = 0;
  /** The next source of a batch. */
  frame = 0;
  /** The next packet of a segment. */
  packet = 0;
}

/**
 * Writes the steps of a plan, compactly: URIs as what differs from the one before, numbers as what differs from those
 * expected. Measured: 19 bytes for a frame of a folder and its shard, 24 for a tile. The version of a file takes some 27 more.
 */
export class StepWriter {
  readonly #bytes: ByteWriter;
  readonly #expected = new Expected();

  constructor(bytes: ByteWriter) {
    this.#bytes = bytes;
  }

  write(step: PlanStep): void {
    switch (step.kind) {
      case 'source':
        this.#source(step);
        break;
      case 'quarantine':
        this.#bytes.uint(tags.quarantine);
        this.#bytes.int(step.index - this.#expected.source);
        this.#bytes.text(step.stage);
        this.#bytes.text(step.error);
        break;
      case 'kept':
        this.#bytes.uint(tags.kept);
        this.#bytes.int(step.index - this.#expected.source);
        this.#bytes.text(step.name);
        break;
      case 'shard':
        this.#shard(step.shard);
        break;
    }
  }

  #source({ index, uri, name, size, tiles, video, version }: Extract<PlanStep, { kind: 'source' }>): void {
    const bytes = this.#bytes;
    const expected = this.#expected;
    const shared = sharedStart(expected.uri, uri);
    // Frames of a video share one.
    if (version !== expected.version) {
      bytes.uint(tags.version);
      bytes.text(version ?? '');
      expected.version = version;
    }
    bytes.uint(tags.source);
    bytes.int(index - expected.source);
    bytes.uint(shared);
    bytes.text(uri.slice(shared));
    // A name is mostly the end of its URI, and then is known by its length.
    if (uri.endsWith(name)) bytes.uint(name.length + 1);
    else {
      bytes.uint(0);
      bytes.text(name);
    }
    this.#size(size);
    bytes.uint(tiles);
    this.#video(video);
    expected.uri = uri;
    expected.source = index + 1;
  }

  #size(size: ImageSize | undefined): void {
    this.#bytes.uint(size ? sizes.indexOf(size.pixel) : 0);
    if (!size) return;
    this.#bytes.uint(size.width);
    this.#bytes.uint(size.height);
  }

  /** One more than the number of the frame, and its time. */
  #video(video: FrameOfVideo | undefined): void {
    this.#bytes.uint(video ? video.frame + 1 : 0);
    if (video) this.#bytes.text(video.timestampMs === null ? '' : String(video.timestampMs));
  }

  #place({ place }: SourceRef): void {
    if (!place) throw new RangeError('A frame of a segment has a place');
    this.#bytes.int(place.packet - this.#expected.packet);
    this.#expected.packet = place.packet + 1;
    this.#bytes.uint(place.order === undefined ? 0 : place.order + 1);
  }

  /** Whether it is that of the tile before, or what it is. */
  #pinned(version: string): void {
    const isExpected = version === this.#expected.pinned;
    this.#bytes.uint(isExpected ? 1 : 0);
    if (!isExpected) this.#bytes.text(version);
    this.#expected.pinned = version;
  }

  #shard({ shard, work, costBytes }: Shard): void {
    const bytes = this.#bytes;
    const expected = this.#expected;
    const isPinned = work.kind === 'tile' && work.source.version !== undefined;
    bytes.uint(isPinned ? tags.pinnedTile : tags[work.kind]);
    bytes.int(shard - expected.shard);
    bytes.uint(costBytes);
    expected.shard = shard + 1;
    if (work.kind === 'tile') {
      const { source, size, rect } = work;
      bytes.int(source.index - expected.source);
      this.#size(size);
      for (const px of [rect.x, rect.y, rect.width, rect.height]) bytes.uint(px);
      if (source.version !== undefined) this.#pinned(source.version);
      return;
    }
    bytes.text(work.segment ? JSON.stringify(work.segment) : '');
    bytes.uint(work.sources.length);
    for (const source of work.sources) {
      bytes.int(source.index - expected.frame);
      expected.frame = source.index + 1;
      if (work.segment) this.#place(source);
    }
  }
}

/**
 * The steps of a block. `uriOf` gives the URI of a source that was planned before, in this block or in one before it; it is
 * asked when the steps up to there have been taken. Throws RangeError where they cannot be steps.
 */
export function* readSteps(bytes: ByteReader, uriOf: (source: number) => string): Generator<PlanStep> {
  const expected = new Expected();
  while (!bytes.isAtEnd) {
    const tag = bytes.uint();
    switch (tag) {
      case tags.source:
        yield readSource(bytes, expected);
        break;
      case tags.quarantine: {
        const index = expected.source + bytes.int();
        yield { kind: 'quarantine', index, stage: bytes.text(), error: bytes.text() };
        break;
      }
      case tags.version:
        expected.version = bytes.text() || undefined;
        break;
      case tags.kept:
        yield { kind: 'kept', index: expected.source + bytes.int(), name: bytes.text() };
        break;
      case tags.frames:
      case tags.tile:
      case tags.pinnedTile: {
        const shard = expected.shard + bytes.int();
        expected.shard = shard + 1;
        const costBytes = bytes.uint();
        const isFrames = tag === tags.frames;
        const work = isFrames
          ? readFrames(bytes, expected, uriOf)
          : readTile(bytes, expected, uriOf, tag === tags.pinnedTile);
        yield { kind: 'shard', shard: { shard, work, costBytes } };
        break;
      }
      default:
        throw new RangeError(`There is no step of kind ${tag}`);
    }
  }
}

function readSource(bytes: ByteReader, expected: Expected): PlanStep {
  const index = expected.source + bytes.int();
  const uri = expected.uri.slice(0, bytes.uint()) + bytes.text();
  const nameLength = bytes.uint();
  const name = nameLength === 0 ? bytes.text() : uri.slice(uri.length - (nameLength - 1));
  expected.uri = uri;
  expected.source = index + 1;
  const size = readSize(bytes);
  const tiles = bytes.uint();
  const video = readVideo(bytes);
  return {
    ...{ kind: 'source', index, uri, name, tiles },
    ...(size && { size }),
    ...(video && { video }),
    ...(expected.version && { version: expected.version }),
  };
}

function readSize(bytes: ByteReader): ImageSize | undefined {
  const pixel = sizes[bytes.uint()];
  if (pixel === 'none') return undefined;
  const size = { width: bytes.uint(), height: bytes.uint() };
  return pixel ? { ...size, pixel } : size;
}

function readVideo(bytes: ByteReader): FrameOfVideo | undefined {
  const next = bytes.uint();
  if (next === 0) return undefined;
  const time = bytes.text();
  return { frame: next - 1, timestampMs: time === '' ? null : Number(time) };
}

function readTile(
  bytes: ByteReader,
  expected: Expected,
  uriOf: (source: number) => string,
  isPinned: boolean,
): ShardWork {
  const index = expected.source + bytes.int();
  const size = readSize(bytes);
  if (!size) throw new RangeError('A tile is of an image with a size');
  const rect = { x: bytes.uint(), y: bytes.uint(), width: bytes.uint(), height: bytes.uint() };
  if (isPinned && bytes.uint() === 0) expected.pinned = bytes.text();
  const version = isPinned ? { version: expected.pinned } : {};
  return { kind: 'tile', source: { index, uri: uriOf(index), ...version }, size, rect };
}

function readFrames(bytes: ByteReader, expected: Expected, uriOf: (source: number) => string): ShardWork {
  const text = bytes.text();
  const sources: SourceRef[] = [];
  for (let left = bytes.uint(); left > 0; left--) {
    const index = expected.frame + bytes.int();
    expected.frame = index + 1;
    sources.push({ index, uri: uriOf(index), ...(text && { place: readPlace(bytes, expected) }) });
  }
  return { kind: 'frames', sources, ...(text && { segment: JSON.parse(text) }) };
}

function readPlace(bytes: ByteReader, expected: Expected): SourceRef['place'] {
  const packet = expected.packet + bytes.int();
  expected.packet = packet + 1;
  const next = bytes.uint();
  return next === 0 ? { packet } : { packet, order: next - 1 };
}

function sharedStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
