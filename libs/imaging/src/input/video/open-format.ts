import { InputError } from '../input-error.ts';
import { averror, type Ffmpeg, type FormatContext, type IoContext, seekOrigins } from './ffmpeg.ts';
import type { VideoBytes } from './video-bytes.ts';

/** Names of FFmpeg. Others it would open are playlists that name other files, and formats that nobody asked for. */
const containers = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts';
export const codecs = ['h264', 'hevc', 'mjpeg', 'mpeg4'];

/** Of a read; FFmpeg's own for files is half of it. */
const bufferBytes = 2 ** 16;

/** A container that FFmpeg has opened. */
export interface OpenFormat {
  context: FormatContext;
  close(): void;
}

/** Throws InputError for what is no container that videos come in. */
export function openFormat(ffmpeg: Ffmpeg, bytes: VideoBytes): OpenFormat {
  const context = new ffmpeg.FormatContext();
  context.allocContext();
  const io = bytes.path === undefined ? openIo(ffmpeg, bytes) : undefined;
  if (io) context.pb = io;
  const options = new ffmpeg.Dictionary();
  options.alloc();
  options.set('format_whitelist', containers, 0);
  options.set('codec_whitelist', codecs.join(','), 0);
  // What is not there cannot be asked for: 'none' is no protocol.
  options.set('protocol_whitelist', io ? 'none' : 'file', 0);
  const opened = context.openInputSync(io ? '' : `file:${bytes.path}`, null, options);
  options.free();
  if (opened < 0) {
    io?.freeContext();
    throw new InputError(
      'decode',
      `Not a video in MP4, Matroska, AVI or MPEG-TS: ${ffmpeg.FFmpegError.strerror(opened)}`,
    );
  }
  const close = () => {
    context.closeInputSync();
    io?.freeContext();
  };
  const known = context.findStreamInfoSync(null);
  if (known >= 0) return { context, close };
  close();
  throw new InputError('decode', `The streams of the video cannot be told: ${ffmpeg.FFmpegError.strerror(known)}`);
}

/**
 * Callbacks are called inside the calls that read, in this thread. One that threw would be called again by another and wait
 * for ever.
 */
function openIo(ffmpeg: Ffmpeg, { sizeBytes, read }: VideoBytes): IoContext {
  const io = new ffmpeg.IOContext();
  let position = 0;
  const readNext = (length: number): Buffer | number => {
    try {
      const bytes = read(position, length);
      position += bytes.length;
      return bytes.length > 0 ? bytes : averror.eof;
    } catch {
      return averror.io;
    }
  };
  const seek = (offset: bigint, origin: number): bigint => {
    if (origin === seekOrigins.size) return BigInt(sizeBytes);
    const base = { [seekOrigins.start]: 0, [seekOrigins.current]: position, [seekOrigins.end]: sizeBytes }[origin];
    const to = (base ?? Number.NaN) + Number(offset);
    if (!(to >= 0)) return BigInt(averror.invalid);
    position = to;
    return BigInt(to);
  };
  io.allocContextWithCallbacks(bufferBytes, 0, readNext, undefined, seek);
  return io;
}
