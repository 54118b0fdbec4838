import type { FrameOfVideo, ImageSize, PackedFrames, PlanStep, Shard, ShardWork, SourceRef } from '../../job/shard.ts';
import type { SpoolReader } from '../stored-frames.ts';
import { StoredSources } from '../stored-sources.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { FrameVersions } from './frame-versions.ts';

/**
 * The first byte of a step, of the version of the sources that follow, or of which of the next shard's sources get a preview. Either no frame has a version, or each has that of
 * its source (`versionedFrames`), or each says its own (`pinnedFrames`).
 */
const tags = {
  source: 0,
  quarantine: 1,
  frames: 2,
  tile: 3,
  kept: 4,
  version: 5,
  pinnedTile: 6,
  versionedFrames: 7,
  pinnedFrames: 8,
  previews: 9,
  packed: 10,
} as const;

/** How a frame says its version: it has none, that of its source, or the text that follows. */
const frameVersions = { none: 0, ofSource: 1, text: 2 } as const;

/** How many bits the pixels of a size have: nothing is known of both, or of the bits alone. */
const sizes = ['none', undefined, 'u8', 'u16'] as const;

const preview = { preview: true } as const;
const nobody: ReadonlySet<number> = new Set();

/** What is likely to come next, so that a step says little where it is as expected. A block begins with a new one. */
class Expected {
  uri = '';
  version: string | undefined;
  /** The version of the source of a tile, as it was opened. */
  pinned = '';
  source = 0;
  shard = 0;
  /** The next source of a batch. */
  frame = 0;
  /** The next packet of a segment. */
  packet = 0;
  /** Places among the sources of the next shard of those that get a preview. */
  previews: ReadonlySet<number> = nobody;
}

/**
 * Writes the steps of a plan, compactly: URIs as what differs from the one before, numbers as what differs from those
 * expected. Packed frames are known by where their block lies. Measured: 19 bytes for a frame of a folder and its shard, 24 for a tile. The version of a file takes some 27 more,
 * and none for a frame that has the same. `versions` are those of the plan so far, of which the bytes may be a part.
 */
export class StepWriter {
  readonly #bytes: ByteWriter;
  readonly #versions: FrameVersions;
  readonly #expected = new Expected();

  constructor(bytes: ByteWriter, versions = new FrameVersions()) {
    this.#bytes = bytes;
    this.#versions = versions;
  }

  write(step: PlanStep): void {
    this.#step(step);
    this.#versions.take(step);
  }

  #step(step: PlanStep): void {
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
    if (work.kind === 'packed') {
      this.#packed(shard, work, costBytes);
      return;
    }
    const tag = this.#tagOf(work);
    this.#previews(work.kind === 'tile' ? [work.source] : work.sources);
    bytes.uint(tag);
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
      if (tag === tags.pinnedFrames) this.#frameVersion(source);
    }
  }

  #previews(sources: readonly SourceRef[]): void {
    const places = [...sources.keys()].filter((place) => sources[place]!.preview);
    if (places.length === 0) return;
    this.#bytes.uint(tags.previews);
    this.#bytes.uint(places.length);
    for (const place of places) this.#bytes.uint(place);
  }

  /** Where the block of the sources lies stands for them. */
  #packed(shard: number, work: PackedFrames, costBytes: number): void {
    if (!(work instanceof StoredSources)) throw new RangeError('Frames are packed and stored nowhere');
    const { first, count, isPinned, hasPreviews, uri, folders, place } = work;
    const bytes = this.#bytes;
    const expected = this.#expected;
    bytes.uint(tags.packed);
    bytes.int(shard - expected.shard);
    bytes.uint(costBytes);
    bytes.int(first - expected.source);
    bytes.uint(count);
    bytes.uint((isPinned ? 1 : 0) + (hasPreviews ? 2 : 0));
    bytes.text(uri);
    bytes.uint(folders.length);
    for (const folder of folders) bytes.text(folder);
    bytes.uint(place.offset);
    bytes.uint(place.length);
    expected.shard = shard + 1;
    expected.source = first + count;
  }

  #tagOf(work: Exclude<ShardWork, PackedFrames>): number {
    if (work.kind === 'tile') return work.source.version === undefined ? tags.tile : tags.pinnedTile;
    if (work.sources.every(({ version }) => version === undefined)) return tags.frames;
    const areOfSources = work.sources.every((source) => source.version === this.#versions.of(source));
    return areOfSources ? tags.versionedFrames : tags.pinnedFrames;
  }

  #frameVersion(source: SourceRef): void {
    if (source.version === undefined) this.#bytes.uint(frameVersions.none);
    else if (source.version === this.#versions.of(source)) this.#bytes.uint(frameVersions.ofSource);
    else {
      this.#bytes.uint(frameVersions.text);
      this.#bytes.text(source.version);
    }
  }
}

/**
 * The steps of a block. `uriOf` gives the URI of a source that was planned before, in this block or in one before it; it is
 * asked when the steps up to there have been taken. `versions` are those of the plan up to this block, and `spool` has the blocks of
 * packed frames. Throws RangeError where they cannot be steps.
 */
export function* readSteps(
  bytes: ByteReader,
  uriOf: (source: number) => string,
  versions = new FrameVersions(),
  spool?: SpoolReader,
): Generator<PlanStep> {
  const context: Reading = { bytes, expected: new Expected(), uriOf, versions, spool };
  while (!bytes.isAtEnd) {
    const tag = bytes.uint();
    if (tag === tags.version) {
      context.expected.version = bytes.text() || undefined;
      continue;
    }
    if (tag === tags.previews) {
      context.expected.previews = new Set(Array.from({ length: bytes.uint() }, () => bytes.uint()));
      continue;
    }
    const step = readStep(tag, context);
    versions.take(step);
    yield step;
  }
}

/** A block that is being read. */
interface Reading {
  bytes: ByteReader;
  expected: Expected;
  uriOf: (source: number) => string;
  versions: FrameVersions;
  spool: SpoolReader | undefined;
}

function readStep(tag: number, context: Reading): PlanStep {
  const { bytes, expected } = context;
  switch (tag) {
    case tags.source:
      return readSource(bytes, expected);
    case tags.quarantine: {
      const index = expected.source + bytes.int();
      return { kind: 'quarantine', index, stage: bytes.text(), error: bytes.text() };
    }
    case tags.kept:
      return { kind: 'kept', index: expected.source + bytes.int(), name: bytes.text() };
    case tags.packed:
      return readPacked(context);
    case tags.tile:
    case tags.pinnedTile:
    case tags.frames:
    case tags.versionedFrames:
    case tags.pinnedFrames: {
      const shard = expected.shard + bytes.int();
      expected.shard = shard + 1;
      const costBytes = bytes.uint();
      const isTile = tag === tags.tile || tag === tags.pinnedTile;
      const work = isTile ? readTile(tag, context) : readFrames(tag, context);
      expected.previews = nobody;
      return { kind: 'shard', shard: { shard, work, costBytes } };
    }
    default:
      throw new RangeError(`There is no step of kind ${tag}`);
  }
}

function readPacked({ bytes, expected, spool }: Reading): PlanStep {
  if (!spool) throw new RangeError('There is no file of packed frames');
  const shard = expected.shard + bytes.int();
  const costBytes = bytes.uint();
  const first = expected.source + bytes.int();
  const count = bytes.uint();
  const flags = bytes.uint();
  const uri = bytes.text();
  const folders = Array.from({ length: bytes.uint() }, () => bytes.text());
  const place = { offset: bytes.uint(), length: bytes.uint() };
  expected.shard = shard + 1;
  expected.source = first + count;
  const outline = { first, count, isPinned: flags % 2 === 1, hasPreviews: flags >= 2, uri, folders };
  return { kind: 'shard', shard: { shard, work: new StoredSources(outline, place, spool), costBytes } };
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

function readTile(tag: number, { bytes, expected, uriOf }: Reading): ShardWork {
  const index = expected.source + bytes.int();
  const size = readSize(bytes);
  if (!size) throw new RangeError('A tile is of an image with a size');
  const rect = { x: bytes.uint(), y: bytes.uint(), width: bytes.uint(), height: bytes.uint() };
  const isPinned = tag === tags.pinnedTile;
  if (isPinned && bytes.uint() === 0) expected.pinned = bytes.text();
  const more = { ...(isPinned && { version: expected.pinned }), ...(expected.previews.has(0) && preview) };
  return { kind: 'tile', source: { index, uri: uriOf(index), ...more }, size, rect };
}

function readFrames(tag: number, context: Reading): ShardWork {
  const { bytes, expected, uriOf } = context;
  const text = bytes.text();
  const sources: SourceRef[] = [];
  const count = bytes.uint();
  for (let nth = 0; nth < count; nth++) {
    const index = expected.frame + bytes.int();
    expected.frame = index + 1;
    const place = text && { place: readPlace(bytes, expected) };
    const source: SourceRef = { index, uri: uriOf(index), ...place, ...(expected.previews.has(nth) && preview) };
    const version = readFrameVersion(tag, source, context);
    sources.push(version === undefined ? source : { ...source, version });
  }
  return { kind: 'frames', sources, ...(text && { segment: JSON.parse(text) }) };
}

function readFrameVersion(tag: number, source: SourceRef, { bytes, versions }: Reading): string | undefined {
  if (tag === tags.frames) return undefined;
  const how = tag === tags.versionedFrames ? frameVersions.ofSource : bytes.uint();
  switch (how) {
    case frameVersions.none:
      return undefined;
    case frameVersions.ofSource:
      return versions.of(source);
    case frameVersions.text:
      return bytes.text();
    default:
      throw new RangeError(`A frame does not say its version by ${how}`);
  }
}

function readPlace(bytes: ByteReader, expected: Expected): SourceRef['place'] {
  const packet = expected.packet + bytes.int();
  expected.packet = packet + 1;
  const next = bytes.uint();
  return next === 0 ? { packet } : { packet, order: next - 1 };
}

/** Characters that both begin with. Half of one is none: UTF-8, in which texts are written, has no halves. */
function sharedStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  const isInside = length > 0 && a.codePointAt(length - 1)! > 0xffff;
  return isInside ? length - 1 : length;
}
