import type { IndexedFrame } from '@halogrid/proto';
import { shownOf } from '@halogrid/results/shown-pixels';
import { type Catalog, readOf } from '@halogrid/search';
import type { Tickets } from './tickets.ts';

/** Path of pictures in the HTTP API. A ticket follows it. */
export const picturePath = '/api/v1/frames/';

/** A row of an index as a message. */
export function indexedFrame(catalog: Catalog, row: number, tickets: Tickets): IndexedFrame {
  const { uri, frame, timestampMs, capturedAtMs, camera } = catalog.describe(row);
  const { out } = catalog.jobOf(row);
  const read = readOf(catalog.pipeline);
  return {
    ...shownFrame({ uri, frame, isVideo: timestampMs !== null, read, out }, tickets),
    timestampMs: timestampMs ?? undefined,
    capturedMs: capturedAtMs ?? undefined,
    camera: camera ?? undefined,
    row,
  };
}

/** A frame as a message, with the path of its picture; the path is empty if the URI is too long for a ticket. */
export function shownFrame(frame: Parameters<Tickets['sign']>[0], tickets: Tickets): IndexedFrame {
  // The list of all bands could be too long for a ticket.
  const ticket = tickets.sign({ ...frame, read: shownOf(frame.read) });
  const { uri, frame: number, isVideo } = frame;
  return { uri, frame: number, isVideo, picture: ticket === '' ? '' : `${picturePath}${ticket}` };
}
