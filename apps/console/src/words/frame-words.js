import { shownPath } from './sentences.js';

/** @import { IndexedFrame, JobFrame } from '@halogrid/proto' */

/** The last part of a source's path, with the frame of a video: `cam1.mp4 #250`. @param {IndexedFrame} frame */
export function shortFrameName({ uri, frame, isVideo }) {
  const name = shownPath(uri).split('/').at(-1) || uri;
  return isVideo ? `${name} #${frame}` : name;
}

/** When a frame was captured, or its time in the video; empty if neither is known. @param {IndexedFrame} frame */
export function timeOfFrame({ capturedMs, timestampMs }) {
  if (capturedMs !== undefined) return describeTime(capturedMs, 'captured_at');
  return timestampMs === undefined ? '' : describeTime(timestampMs, 'timestamp_ms');
}

/**
 * Which frame of an archive it is, in few words: its time in the video, or the name of its file.
 *
 * @param {JobFrame} frame
 */
export function describeMoment({ uri, timestampMs }) {
  const name = shownPath(uri).split('/').at(-1) || uri;
  return timestampMs === undefined ? name : describeTime(timestampMs, 'timestamp_ms');
}

/**
 * A time of the API as text: a clock time in UTC, a time in a video as `1:02:03.4`, or the number of a frame.
 *
 * @param {number} time
 * @param {string} kind captured_at, timestamp_ms or frame
 */
export function describeTime(time, kind) {
  if (kind === 'captured_at') return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (kind === 'frame') return `frame ${time}`;
  const tenths = Math.round(time / 100);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const seconds = ((tenths % 600) / 10).toFixed(1);
  if (hours > 0) return `${hours}:${pad(String(minutes), 2)}:${pad(seconds, 4)}`;
  return minutes > 0 ? `${minutes}:${pad(seconds, 4)}` : `${seconds} s`;
}

/** @param {string} text @param {number} length */
const pad = (text, length) => text.padStart(length, '0');
