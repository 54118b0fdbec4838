import { UsageError } from '@halogrid/service';
import { toUri } from '@halogrid/sources/to-uri';

/** What to search for: a frame of the index, by its row or its source, or an image whose histogram is computed. */
export type Query =
  | { readonly kind: 'row'; readonly text: string; readonly row: number }
  | { readonly kind: 'frame'; readonly text: string; readonly uri: string; readonly frame: number }
  | { readonly kind: 'image'; readonly text: string; readonly uri: string };

/** Parses `row:N`, `PATH#FRAME` or a path. Relative paths are seen from `folder`. Throws UsageError. */
export function parseQuery(text: string, folder: string): Query {
  const [, row] = /^row:(\d{1,15})$/.exec(text) ?? [];
  if (row !== undefined) return { kind: 'row', text, row: Number(row) };
  const [, path, frame] = /^(.+)#(\d{1,10})$/.exec(text) ?? [];
  try {
    if (path !== undefined) return { kind: 'frame', text, uri: toUri(path, folder), frame: Number(frame) };
    if (text === '') throw new UsageError("Expected an image, PATH#FRAME or row:N but received ''");
    return { kind: 'image', text, uri: toUri(text, folder) };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
