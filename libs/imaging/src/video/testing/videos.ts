// For tests: videos that the program ffmpeg makes, and their frames as it decodes them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why tests that compare with FFmpeg's own program are left out; false if it is installed. */
export const noFfmpeg: string | false = hasFfmpeg() ? false : 'the program ffmpeg, to compare with, is not installed';

function hasFfmpeg(): boolean {
  try {
    execFileSync('ffmpeg', ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const width = 98;
export const height = 66;

const av1 = ['-c:v', 'libaom-av1', '-cpu-used', '8', '-g', '12'];
const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-g', '12'];

/** Encoders of a test picture, each with the containers that it goes into, by name. */
export const videoKinds: Record<string, string[]> = {
  'h264.mp4': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '3', '-g', '12'],
  'h264-open.mkv': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '3', '-g', '12', '-x264-params', 'open-gop=1'],
  'h264-open.ts': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '3', '-g', '12', '-x264-params', 'open-gop=1'],
  'h264-without-times.avi': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '3', '-g', '12'],
  'h264-full-range.mp4': ['-pix_fmt', 'yuvj420p', '-c:v', 'libx264', '-g', '9'],
  'h264-422.mp4': ['-pix_fmt', 'yuv422p', '-c:v', 'libx264', '-g', '9'],
  'h264-444.mkv': ['-pix_fmt', 'yuv444p', '-c:v', 'libx264', '-g', '9'],
  'h264-gray.mp4': ['-pix_fmt', 'gray', '-c:v', 'libx264', '-g', '9'],
  'h264-intra-refresh.ts': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-x264-params', 'intra-refresh=1:keyint=20'],
  // Refreshed more slowly than key frames come: B-frames do not count.
  'h264-slow-refresh.ts': [
    '-pix_fmt',
    'yuv420p',
    '-c:v',
    'libx264',
    '-bf',
    '3',
    '-x264-params',
    'intra-refresh=1:keyint=10',
  ],
  'hevc-open.mp4': ['-pix_fmt', 'yuv420p', '-c:v', 'libx265', '-x265-params', 'log-level=none:open-gop=1:keyint=12'],
  'hevc-open.ts': ['-pix_fmt', 'yuv420p', '-c:v', 'libx265', '-x265-params', 'log-level=none:open-gop=1:keyint=12'],
  'hevc.mkv': ['-pix_fmt', 'yuv420p', '-c:v', 'libx265', '-x265-params', 'log-level=none:open-gop=0:keyint=12'],
  'av1.mp4': ['-pix_fmt', 'yuv420p', ...av1],
  'av1.webm': ['-pix_fmt', 'yuv420p', ...av1, '-aom-params', 'film-grain-test=1'],
  'vp9.webm': ['-pix_fmt', 'yuv420p', ...vp9, '-auto-alt-ref', '1', '-lag-in-frames', '10'],
  'vp9-444.mp4': ['-pix_fmt', 'yuv444p', ...vp9],
  'mjpeg.avi': ['-pix_fmt', 'yuvj422p', '-c:v', 'mjpeg'],
  'mjpeg.mkv': ['-pix_fmt', 'yuvj420p', '-c:v', 'mjpeg', '-q:v', '8'],
  'mjpeg-limited.avi': ['-pix_fmt', 'yuv420p', '-strict', '-1', '-color_range', 'tv', '-c:v', 'mjpeg'],
  'h264.vob': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '3', '-g', '12'],
  'mpeg4.vob': ['-pix_fmt', 'yuv420p', '-c:v', 'mpeg4', '-bf', '2', '-g', '12'],
  'h264.264': ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '3', '-g', '12'],
  'hevc.265': ['-pix_fmt', 'yuv420p', '-c:v', 'libx265', '-x265-params', 'log-level=none:open-gop=1:keyint=12'],
  'mpeg4.mp4': ['-pix_fmt', 'yuv420p', '-c:v', 'mpeg4', '-bf', '2', '-g', '12'],
  'mpeg4.avi': ['-pix_fmt', 'yuv420p', '-c:v', 'mpeg4', '-bf', '2', '-g', '12'],
  'mpeg4.ts': ['-pix_fmt', 'yuv420p', '-c:v', 'mpeg4', '-bf', '2', '-g', '12'],
};

const hevc = (settings: string) => ['-c:v', 'libx265', '-x265-params', `log-level=none:keyint=12:${settings}`];

/** Videos of more than 8 bits a sample, by name: FFmpeg's name of gray with as many bits, and the encoder. */
export const deepKinds: Record<string, { gray: string; encoder: string[] }> = {
  'hevc-10.mp4': { gray: 'gray10le', encoder: ['-pix_fmt', 'yuv420p10le', ...hevc('open-gop=1')] },
  'hevc-10-full.mkv': {
    gray: 'gray10le',
    encoder: ['-pix_fmt', 'yuv420p10le', '-color_range', 'pc', ...hevc('range=full')],
  },
  'hevc-12-422.mp4': { gray: 'gray12le', encoder: ['-pix_fmt', 'yuv422p12le', ...hevc('open-gop=0')] },
  'hevc-12-444-full.ts': {
    gray: 'gray12le',
    encoder: ['-pix_fmt', 'yuv444p12le', '-color_range', 'pc', ...hevc('range=full')],
  },
  'hevc-12-gray.mkv': { gray: 'gray12le', encoder: ['-pix_fmt', 'gray12le', ...hevc('open-gop=0')] },
  'av1-10.mkv': { gray: 'gray10le', encoder: ['-pix_fmt', 'yuv420p10le', ...av1, '-usage', 'realtime'] },
  'vp9-12-422.webm': { gray: 'gray12le', encoder: ['-pix_fmt', 'yuv422p12le', ...vp9] },
  'h264-10.ts': { gray: 'gray10le', encoder: ['-pix_fmt', 'yuv420p10le', '-c:v', 'libx264', '-g', '12'] },
  'h264-10-422.mkv': { gray: 'gray10le', encoder: ['-pix_fmt', 'yuv422p10le', '-c:v', 'libx264', '-g', '12'] },
  'h264-10-444.mp4': { gray: 'gray10le', encoder: ['-pix_fmt', 'yuv444p10le', '-c:v', 'libx264', '-g', '12'] },
  'h264-10-gray.mp4': { gray: 'gray10le', encoder: ['-pix_fmt', 'gray10le', '-c:v', 'libx264', '-g', '12'] },
};

const testPicture = ['-f', 'lavfi', '-i', `testsrc2=s=${width}x${height}:r=25`];

/** Writes a video of 48 frames at 25 a second. */
export function makeVideo(path: string, encoder: readonly string[], frames = 48): void {
  makeVideos([{ path, encoder }], frames);
}

/**
 * Writes several videos at once, because starting the program takes longer than encoding one (measured: 28 take 1.6 s
 * of a core, one by one 3.9).
 */
export function makeVideos(videos: readonly { path: string; encoder: readonly string[] }[], frames = 48): void {
  const outputs = videos.flatMap(({ path, encoder }) => ['-frames:v', String(frames), ...encoder, path]);
  runFfmpeg([...testPicture, ...outputs]);
}

export function runFfmpeg(args: readonly string[]): Buffer {
  return execFileSync('ffmpeg', ['-v', 'error', '-y', ...args], { maxBuffer: 2 ** 30 });
}

interface RawFrames {
  path: string;
  /** A value of `-pix_fmt`. */
  format: string;
}

/** All frames of each video as `ffmpeg` decodes them, one after another. */
function decodeByFfmpeg(videos: readonly RawFrames[], options: readonly string[] = []): Buffer[] {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-raw-'));
  const rawOf = (i: number) => join(folder, `${i}.raw`);
  const outputs = videos.flatMap(({ format }, i) => {
    return ['-map', `${i}:v:0`, ...options, '-f', 'rawvideo', '-pix_fmt', format, rawOf(i)];
  });
  try {
    runFfmpeg([...videos.flatMap(({ path }) => ['-i', path]), '-vsync', 'passthrough', ...outputs]);
    return videos.map((_, i) => readFileSync(rawOf(i)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All frames of videos as `ffmpeg -pix_fmt gray` decodes them, or in another format, one after another. */
export function graysByFfmpeg(videos: readonly RawFrames[]): Buffer[] {
  return decodeByFfmpeg(videos);
}

/** The same of one video. */
export function grayByFfmpeg(path: string, format = 'gray'): Buffer {
  return decodeByFfmpeg([{ path, format }])[0]!;
}

const byDefinition = ['-vf', 'scale=flags=bilinear+accurate_rnd+full_chroma_int'];

/** All frames of videos as planes of green, blue and red, by the flags of swscale that colour is defined by. */
export function allColoursByFfmpeg(videos: readonly RawFrames[]): Buffer[] {
  return decodeByFfmpeg(videos, byDefinition);
}

/** The same of one video. */
export function coloursByFfmpeg(path: string, format = 'gbrp'): Buffer {
  return allColoursByFfmpeg([{ path, format }])[0]!;
}
