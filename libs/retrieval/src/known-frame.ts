import type { IndexedFrame } from '@halogrid/proto';
import type { Catalog } from '@halogrid/search';
import type { Tickets } from './tickets.ts';

/** Path of a picture, behind which is its ticket. */
export const picturePath = '/api/v1/frames/';

/** A row of an index as a message. */
export function indexedFrame(catalog: Catalog, row: number, tickets: Tickets): IndexedFrame {
  const { uri, frame, timestampMs, capturedAtMs, camera } = catalog.describe(row);
  return {
    ...shownFrame({ uri, frame, isVideo: timestampMs !== null, out: catalog.jobOf(row).out }, tickets),
    ...(timestampMs !== null && { timestampMs }),
    ...(capturedAtMs !== null && { capturedMs: capturedAtMs }),
    ...(camera !== null && { camera }),
    row,
  };
}

/** A frame as a message, with the path of its picture. */
export function shownFrame(frame: Parameters<Tickets['sign']>[0], tickets: Tickets): IndexedFrame {
  const ticket = tickets.sign(frame);
  const { uri, frame: number, isVideo } = frame;
  return { uri, frame: number, isVideo, picture: ticket === '' ? '' : `${picturePath}${ticket}` };
}
