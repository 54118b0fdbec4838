import type { IndexFrame } from '../store/segment-writer.ts';
import { UnknownCamera } from '../store/unknown-camera.ts';
import { CameraWatch, type WatchOptions } from './camera-watch.ts';
import type { ChangeEvent } from './change-event.ts';
import type { CellShape } from './compare-cells.ts';
import type { TimelinePoint } from './timeline.ts';

/**
 * What the times of a camera mean: the clock in UTC, the time from the beginning of a video, or the number of the frame
 * from 0.
 */
export type TimeKind = 'captured_at' | 'timestamp_ms' | 'frame';

export interface CameraChanges {
  camera: string;
  time: TimeKind;
  frames: number;
  /** Frames without a time, if other frames of the camera have one. They are left out. */
  withoutTime: number;
  /** Frames that count no pixel. They are left out. */
  empty: number;
  /** How often a frame is earlier than the one before it, and the first such frame. */
  clockWentBack: number;
  firstBack?: { uri: string; frame: number };
  events: ChangeEvent[];
  timeline: readonly TimelinePoint[];
}

export interface ChangeOptions {
  /** How long a lasting change must stay: in seconds, or in frames if no time is known. */
  readonly minDuration: number;
  readonly times: number;
  /** Only this camera. */
  readonly camera?: string;
}

/** The camera of a frame: its name if it has one, or else the video, or the folder of the image. */
export function cameraOf({ camera, uri, timestampMs }: Pick<IndexFrame, 'camera' | 'uri' | 'timestampMs'>): string {
  if (camera !== null) return camera;
  return Number.isNaN(timestampMs) ? uri.slice(0, Math.max(uri.lastIndexOf('/'), 0)) : uri;
}

interface Watched extends Omit<CameraChanges, 'events' | 'timeline'> {
  watch: CameraWatch;
  lastTime: number;
}

/**
 * What changes in each camera, from frames in their order, one pass. A frame that is earlier than the one before it is
 * taken where it stands, and counted. Memory grows with cameras and events, not with frames. Throws UnknownCamera if
 * the requested camera has no frame, but others have.
 */
export async function findChanges(
  frames: AsyncIterable<IndexFrame> | Iterable<IndexFrame>,
  shape: CellShape,
  { minDuration, times, camera: only }: ChangeOptions,
): Promise<CameraChanges[]> {
  const cameras = new Map<string, Watched>();
  const others = new Set<string>();
  for await (const frame of frames) {
    const camera = cameraOf(frame);
    if (only !== undefined && camera !== only) {
      others.add(camera);
      continue;
    }
    let watched = cameras.get(camera);
    if (!watched) {
      const time = timeKindOf(frame);
      const options: WatchOptions = { minDuration: time === 'frame' ? minDuration : minDuration * 1000, times };
      const watch = new CameraWatch(shape, options);
      const counts = { frames: 0, withoutTime: 0, empty: 0, clockWentBack: 0 };
      watched = { camera, time, ...counts, watch, lastTime: Number.NEGATIVE_INFINITY };
      cameras.set(camera, watched);
    }
    take(frame, watched);
  }
  if (only !== undefined && cameras.size === 0 && others.size > 0) throw new UnknownCamera('The job', only, others);
  return [...cameras.values()].map(({ watch, lastTime, ...camera }) => {
    return { ...camera, events: watch.finish(), timeline: watch.timeline };
  });
}

function take(frame: IndexFrame, watched: Watched): void {
  const time = timeOf(frame, watched);
  watched.frames++;
  if (Number.isNaN(time)) watched.withoutTime++;
  else if (isEmpty(frame.bins)) watched.empty++;
  else {
    if (time < watched.lastTime) {
      watched.clockWentBack++;
      watched.firstBack ??= { uri: frame.uri, frame: frame.frame };
    }
    watched.lastTime = time;
    const isVideo = !Number.isNaN(frame.timestampMs);
    watched.watch.add({ uri: frame.uri, frame: frame.frame, isVideo, time }, frame.bins);
  }
}

function timeKindOf({ capturedAtMs, timestampMs }: IndexFrame): TimeKind {
  if (!Number.isNaN(capturedAtMs)) return 'captured_at';
  return Number.isNaN(timestampMs) ? 'frame' : 'timestamp_ms';
}

function timeOf({ capturedAtMs, timestampMs }: IndexFrame, { time, frames }: Watched): number {
  if (time === 'captured_at') return capturedAtMs;
  return time === 'timestamp_ms' ? timestampMs : frames;
}

function isEmpty(counts: ArrayLike<number>): boolean {
  for (let i = 0; i < counts.length; i++) if (counts[i] !== 0) return false;
  return true;
}
