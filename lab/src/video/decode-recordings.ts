import { pathToFileURL } from 'node:url';
import type { Size } from '@halogrid/geometry';
import { type DecoderPool, openVideoFile, planVideo, type VideoSegment } from '@halogrid/imaging';
import { limitConcurrency } from '@halogrid/threads';

/** A recording on this machine, and its segments. */
export interface Planned extends Size {
  uri: string;
  segments: VideoSegment[];
}

/** Cuts a recording as a job does. */
export async function planRecording(path: string): Promise<Planned> {
  const planned: Planned = { uri: pathToFileURL(path).href, segments: [], width: 0, height: 0 };
  for await (const part of planVideo(planned.uri, {}, () => ({ aim: 128, most: 256 }))) {
    if (part.kind === 'segment') planned.segments.push(part.segment);
    if (part.kind === 'video') [planned.width, planned.height] = [part.width, part.height];
  }
  return planned;
}

/**
 * Decodes recordings with the decoders of halogrid, without a node: luma of every frame in memory. With `asDecoded` the
 * luma is what a device turns into gray.
 */
export async function decodeRecordings(
  recordings: readonly Planned[],
  pool: DecoderPool,
  { hwaccel, asDecoded }: { hwaccel: string; asDecoded: boolean },
): Promise<void> {
  const all = recordings.flatMap(({ uri, segments }) => segments.map((segment) => ({ uri, segment })));
  // A node has as many segments ready as it decodes.
  const limit = limitConcurrency(2 * pool.processes);
  const decode = async ({ uri, segment: { start, strictFrom, end, frames } }: (typeof all)[number]): Promise<void> => {
    const file = await openVideoFile(uri);
    const decoder = await pool.decode(file, { start, strictFrom, end, wanted: frames, hwaccel, asDecoded });
    try {
      let bytes = new Uint8Array(0);
      for (let event = await decoder.next(); event.kind !== 'end'; event = await decoder.next()) {
        if (event.kind !== 'frame') continue;
        const { stride } = event;
        if (bytes.length < stride * event.height) bytes = new Uint8Array(stride * event.height);
        await decoder.luma(event, { bytes, offset: 0, stride, channels: 'gray', planeBytes: 0 });
      }
    } finally {
      await decoder.close();
      file.close();
    }
  };
  await Promise.all(all.map((one) => limit(() => decode(one))));
}
