import type { IndexStatus, ListFramesRequest, ListFramesResponse } from '@halogrid/proto';
import { IndexError, pipelineLine, type SearchIndex } from '@halogrid/search';
import { indexedFrame } from './known-frame.ts';
import type { Tickets } from './tickets.ts';

/** Frames of an index: up to `count` rows (0: 24) from `first` on, each `step` (0: 1) after the row before. */
export function listFrames(
  { catalog }: SearchIndex,
  { first, step, count }: ListFramesRequest,
  tickets: Tickets,
): ListFramesResponse {
  const rows = Array.from({ length: count || 24 }, (_, i) => first + i * (step || 1));
  const frames = rows.filter((row) => row < catalog.frames).map((row) => indexedFrame(catalog, row, tickets));
  return { frames, total: catalog.frames };
}

/** Describes an index, or says in `error` why it cannot be opened. */
export async function indexStatus(name: string, open: () => Promise<SearchIndex>): Promise<IndexStatus> {
  try {
    const { catalog } = await open();
    const { grid } = catalog.pipeline;
    return {
      name,
      frames: catalog.frames,
      pipeline: pipelineLine(catalog.pipeline),
      ...grid,
      knowsCaptured: catalog.knows('capturedAtMs'),
      knowsCamera: catalog.knows('camera'),
      error: '',
    };
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
    const unknown = { pipeline: '', rows: 0, columns: 0, knowsCaptured: false, knowsCamera: false };
    return { name, frames: 0, ...unknown, error: error.message };
  }
}
