import type { Rect, Size } from '@halogrid/geometry';
import type { ItemResult, PipelineItem } from '@halogrid/kernels';
import { type MapType, writeChunk } from '@halogrid/results';

/**
 * Writes the chunks that a node leaves for the preview of a source of gray bytes, whose planes are in `bytes`; the
 * chunks of the source itself go to `scratch`.
 */
export async function writePreviewChunks(
  of: { scratch: string; source: number; size: Size; rect: Rect; type: MapType },
  scratch: string,
  bytes: Uint8Array,
  { stages, offset, stride, planeBytes }: PipelineItem,
  { map }: ItemResult,
): Promise<void> {
  const samples = { bytes: map!.bytes, strideBytes: map!.stride, bandBytes: map!.bandBytes };
  await writeChunk({ ...of, kind: 'preview' }, samples);
  const first = stages.reduce((sum, { out }) => sum + out.y * stride + out.x, offset);
  const plane = { bytes: bytes.subarray(first), strideBytes: stride, bandBytes: planeBytes };
  await writeChunk({ ...of, scratch, kind: 'sums', type: { sample: 'u8', bands: 1 } }, plane);
}
