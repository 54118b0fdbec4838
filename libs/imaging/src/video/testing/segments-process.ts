// For tests: decodes segments of videos, one after another in one process. A test that cuts videos into hundreds of
// segments starts it once.
import { InputError } from '@halogrid/sources/input-error';
import { decodeSegment } from '../process/decode-segment.ts';
import { loadFfmpeg, logFatal } from '../process/ffmpeg.ts';
import { packedPixels } from '../process/frame-pixels.ts';
import type { OpenedVideo } from '../process/segment-readers.ts';
import type { SegmentRequest } from '../process/segment-request.ts';
import { openVideoBytes } from '../process/video-bytes.ts';
import type { VideoFile } from '../video-file.ts';

/**
 * An order to the process, in one message: a video and requests. It answers each request with one message, in order.
 */
export interface SegmentsOrder {
  access: VideoFile['access'];
  requests: SegmentRequest[];
}

export type SegmentOutcome =
  | { kind: 'refused'; stage: 'read' | 'decode'; error: string }
  | { kind: 'decoded'; events: SegmentOutcomeEvent[] };

/** Events in the order they come; a position is an index of the request's `wanted`. */
export type SegmentOutcomeEvent =
  | { kind: 'frame'; position: number; luma: Uint8Array }
  | { kind: 'bad'; position: number; error: string }
  | { kind: 'created'; ms: number }
  | { kind: 'note'; line: string };

function outcomeOf(video: OpenedVideo, request: SegmentRequest): SegmentOutcome {
  const events: SegmentOutcomeEvent[] = [];
  try {
    decodeSegment(ffmpeg, video, request, {
      frame: (position, pixels) => events.push({ kind: 'frame', position, luma: packedPixels(pixels) }),
      bad: (position, error) => events.push({ kind: 'bad', position, error }),
      created: (ms) => events.push({ kind: 'created', ms }),
      note: (line) => events.push({ kind: 'note', line }),
      hardware: () => {},
    });
    return { kind: 'decoded', events };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { kind: 'refused', stage: error.stage, error: error.message };
  }
}

const ffmpeg = loadFfmpeg();
ffmpeg.Log.setLevel(logFatal);
process.on('message', ({ access, requests }: SegmentsOrder) => {
  const video: OpenedVideo = { bytes: openVideoBytes(access) };
  for (const request of requests) process.send!(outcomeOf(video, request));
  video.spare?.close();
  video.bytes.close();
});
process.on('disconnect', () => process.exit());
