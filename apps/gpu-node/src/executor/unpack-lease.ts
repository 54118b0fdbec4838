import type { Size } from '@halogrid/geometry';
import type { BlockSource, SourceBlock } from '@halogrid/sources/source-block';

/** A source of a lease, as a node uses it. */
export interface LeasedSource extends Pick<BlockSource, 'index' | 'uri' | 'sizeBytes' | 'place' | 'preview'> {
  /** The version that the node must find; absent: any. */
  version?: string | undefined;
  /** Pixels that are 0 there do not count. */
  mask?: BlockSource['mask'];
  /** The image whose mask it is; `full`: the size of its largest level, if another is read. */
  maskOf?: { uri: string; full?: Size | undefined };
}

/** The sources of a lease, in the order of its block. `verify`: the lease verifies the results of another node. */
export function unpackLease(block: SourceBlock, verify = false): LeasedSource[] {
  return Array.from({ length: block.length }, (_, nth): LeasedSource => {
    return {
      index: block.index(nth),
      uri: block.uri(nth),
      sizeBytes: block.sizeBytes(nth),
      version: block.pin(nth),
      place: block.place(nth),
      mask: block.mask(nth),
      // A lease to verify writes no files.
      preview: block.hasPreview(nth) && !verify ? true : undefined,
    };
  });
}
