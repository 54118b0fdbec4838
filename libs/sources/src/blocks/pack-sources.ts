import { type BlockSource, blockPixels, sourceColumns } from './source-block.ts';
import { timeOf } from './time-of-version.ts';

/**
 * The block of bytes of these sources, in their order, as SourceBlock reads it. 23 bytes for a frame of a folder, with
 * name, size and version. Throws RangeError if there are more than a block holds.
 */
export function packSources(sources: Iterable<BlockSource>): Uint8Array {
  const packer = new SourcePacker();
  for (const source of sources) packer.add(source);
  return packer.pack();
}

/** Makes such a block from sources that are added one by one. */
export class SourcePacker {
  readonly #block = sourceColumns.writer();
  /** Bytes of the last URI up to its last slash. */
  #folderBytes = -1;

  get length(): number {
    return this.#block.rows;
  }

  /** Stored bytes of its texts and of facts about sources. */
  get textBytes(): number {
    return this.#block.textBytes;
  }

  /**
   * Returns whether the source's folder may differ from that of the last one; a change is never missed. Throws
   * RangeError if the block is full.
   */
  add(source: BlockSource): boolean {
    const row = this.#block.begin();
    const { columns } = this.#block;
    const { index, uri, name, sizeBytes, version, pin, preview, video, place, size, tiles, kept, known, mask, error } =
      source;
    columns.index.put(row, index);
    columns.uri.put(row, uri);
    columns.name.put(row, name);
    columns.sizeBytes.put(row, sizeBytes);
    if (version !== undefined) this.#version(row, version, sizeBytes);
    if (pin !== version) {
      if (pin === undefined) columns.free.put(row, true);
      else columns.pin.put(row, pin);
    }
    if (preview) columns.preview.put(row, true);
    if (video) {
      columns.frame.put(row, video.frame);
      if (video.timestampMs !== null) columns.timestampMs.put(row, video.timestampMs);
    }
    if (place) {
      columns.packet.put(row, place.packet);
      if (place.order !== undefined) columns.order.put(row, place.order);
    }
    if (size) {
      columns.width.put(row, size.width);
      columns.height.put(row, size.height);
      if (size.pixel) columns.pixel.put(row, blockPixels.indexOf(size.pixel));
    }
    if (tiles !== undefined) columns.tiles.put(row, tiles);
    if (kept !== undefined) columns.kept.put(row, kept);
    if (known) columns.known.put(row, known);
    if (mask) columns.mask.put(row, mask.uri);
    if (mask?.version !== undefined) columns.maskVersion.put(row, mask.version);
    if (error) {
      columns.stage.put(row, error.stage);
      columns.error.put(row, error.error);
    }
    return this.#isElsewhere(uri);
  }

  pack(): Uint8Array {
    return this.#block.pack();
  }

  #version(row: number, version: string, sizeBytes: number): void {
    const time = timeOf(version, sizeBytes);
    if (time === undefined) this.#block.columns.version.put(row, version);
    else this.#block.columns.time.put(row, time);
  }

  #isElsewhere(uri: string): boolean {
    const { lastBytes, lastShared } = this.#block.columns.uri;
    // A URI of as many bytes as units is ASCII.
    const folderBytes = lastBytes === uri.length ? uri.lastIndexOf('/') : -1;
    const isSame = folderBytes === this.#folderBytes && folderBytes >= 0 && lastShared > folderBytes;
    this.#folderBytes = folderBytes;
    return !isSame;
  }
}
