// For tests: all frames of a video, as nodes decode them.
import assert from 'node:assert/strict';
import { sampleBytes } from '@halogrid/geometry';
import { planVideo, type SegmentLength } from '../plan-video.ts';
import { SegmentDecoder } from '../video-child.ts';
import { openVideoFile } from '../video-file.ts';

export interface Decoded {
  /** Gray by number of frame; those that are bad in the end are not there. */
  frames: Map<number, Uint8Array>;
  bad: Map<number, string>;
  /** Milliseconds by number of frame. */
  times: Map<number, number | null>;
  segments: number;
}

/** Every segment in a process of its own, as nodes decode them; rows lie apart, as in a device's memory. */
export async function decodeInSegments(uri: string, length: SegmentLength): Promise<Decoded> {
  const decoded: Decoded = { frames: new Map(), bad: new Map(), times: new Map(), segments: 0 };
  for await (const part of planVideo(uri, {}, () => length)) {
    if (part.kind === 'missing') for (const { frame } of part.frames) decoded.bad.set(frame, part.why);
    if (part.kind !== 'segment') continue;
    decoded.segments++;
    for (const { frame, timestampMs } of part.segment.frames) decoded.times.set(frame, timestampMs);
    const { start, strictFrom, end, frames } = part.segment;
    assert.ok(frames.length <= length.most);
    const file = await openVideoFile(uri);
    assert.equal(file.version, part.segment.version);
    const decoder = new SegmentDecoder(file, {
      start,
      strictFrom,
      end,
      wanted: frames,
      hwaccel: '',
    });
    for (let event = await decoder.next(); event.kind !== 'end'; event = await decoder.next()) {
      if (event.kind === 'note') assert.fail(event.line);
      const { frame } = frames[event.position]!;
      if (event.kind === 'bad') {
        decoded.bad.set(frame, event.error);
        decoded.frames.delete(frame);
        continue;
      }
      assert.ok(!decoded.frames.has(frame), `frame ${frame} comes twice`);
      const rowBytes = event.width * sampleBytes[event.pixel];
      const stride = rowBytes + 6;
      const bytes = new Uint8Array(stride * event.height + 3);
      await decoder.luma(event, { bytes, offset: 3, stride, channels: 'gray', planeBytes: 0 });
      const rows = Array.from({ length: event.height }, (_, y) =>
        bytes.subarray(3 + y * stride, 3 + y * stride + rowBytes),
      );
      decoded.frames.set(frame, Buffer.concat(rows));
    }
    await decoder.close();
    file.close();
  }
  return decoded;
}
