import { InputError } from '@halogrid/sources/input-error';
import { containerStart, recorderFile, searchedBytes } from '../container-start.ts';
import {
  averror,
  type Ffmpeg,
  type FormatContext,
  formatFlags,
  type IoContext,
  seekOrigins,
  videoType,
} from './ffmpeg.ts';
import { lacksTables } from './mp4-boxes.ts';
import { bytesAt, type VideoBytes } from './video-bytes.ts';

/**
 * FFmpeg's names. The others that it would open are playlists, which name other files, and formats that nobody asked
 * for.
 */
const containers = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts';

/** FFmpeg's names of the codecs that are decoded, each with its name of the decoder. */
export const decoders: Readonly<Record<string, string>> = {
  h264: 'h264',
  hevc: 'hevc',
  av1: 'libdav1d',
  vp9: 'vp9',
  mjpeg: 'mjpeg',
  mpeg4: 'mpeg4',
};

/** Bytes of a read; FFmpeg reads half as many of files. */
const bufferBytes = 2 ** 16;

const withoutTables =
  'The file has no index (moov), which tells where its frames are: its recorder was cut off, or is still at work';

/** A container that FFmpeg has opened. Once it is closed, its context and streams must not be used. */
export interface OpenFormat {
  context: FormatContext;
  /** Throws InputError if a read has failed, even if FFmpeg took that for something else. */
  checkReads(): void;
  /** May be called again. */
  close(): void;
}

export interface FormatOptions {
  /**
   * Packets come as the container's tables state them: FFmpeg looks into none of them, and knows of streams only what
   * headers say.
   */
  asList?: boolean;
  /**
   * Takes what headers say of a stream, if they say all that its decoder needs. FFmpeg's way, to decode the first
   * frames, takes 33 ms for 1080p (measured). The format of pixels stays unknown.
   */
  trustsHeaders?: boolean;
}

/** Throws InputError for a file that is not in one of these containers, and for a file that cannot be read. */
export function openFormat(ffmpeg: Ffmpeg, bytes: VideoBytes, given: FormatOptions = {}): OpenFormat {
  const { asList = false, trustsHeaders = false } = given;
  const { io, checkReads } = openIo(ffmpeg, bytes);
  const context = new ffmpeg.FormatContext();
  context.allocContext();
  context.pb = io;
  if (asList) context.flags |= formatFlags.noParse;
  const options = new ffmpeg.Dictionary();
  options.alloc();
  // FFmpeg would take some damaged files for one of these.
  const recorder = recorderFile(bytesAt(bytes.read, 0, 16));
  options.set('format_whitelist', recorder?.name ?? containers, 0);
  options.set('codec_whitelist', Object.values(decoders).join(','), 0);
  // Nothing else can be opened: there is no protocol 'none'.
  options.set('protocol_whitelist', 'none', 0);
  const opened = context.openInputSync('', null, options);
  options.free();
  let isOpen = opened >= 0;
  let isHeld = true;
  const close = () => {
    if (isOpen) context.closeInputSync();
    isOpen = false;
    if (isHeld) io.freeContext();
    isHeld = false;
  };
  try {
    checkReads();
    if (opened < 0 && lacksTables(bytes)) throw new InputError('decode', withoutTables);
    const start = opened < 0 ? containerStart(bytesAt(bytes.read, 0, searchedBytes)) : 0;
    if (start > 0) {
      close();
      return openFormat(ffmpeg, bytesFrom(bytes, start), given);
    }
    if (opened < 0 && recorder) throw refusal(`The file begins as ${recorder.what}, but is not one`, opened);
    if (opened < 0) throw refusal('Not a video in MP4, Matroska, AVI, MPEG-TS or MPEG-PS', opened);
    const isTold = asList || (trustsHeaders && headersTell(ffmpeg, context));
    const known = isTold ? 0 : context.findStreamInfoSync(null);
    checkReads();
    if (known < 0) throw refusal('The streams of the video cannot be told', known);
  } catch (error) {
    close();
    throw error;
  }
  return { context, checkReads, close };

  function refusal(what: string, code: number): InputError {
    return new InputError('decode', `${what}: ${ffmpeg.FFmpegError.strerror(code)}`);
  }
}

/** The bytes from `start` on. FFmpeg itself finds a transport stream only if few other bytes are before it. */
const bytesFrom = ({ sizeBytes, read, close }: VideoBytes, start: number): VideoBytes => ({
  sizeBytes: sizeBytes - start,
  read: (position, length, isAlone) => read(position + start, length, isAlone),
  close,
});

/**
 * Whether this is an MP4 that has the parameter sets of each of its videos in its header: a decoder needs nothing else.
 */
function headersTell(ffmpeg: Ffmpeg, { iformat, streams }: FormatContext): boolean {
  const videos = streams?.filter(({ codecpar }) => codecpar.codecType === videoType) ?? [];
  const isTold = videos.every(({ codecpar: { codecId, extradata } }) => {
    const codec = ffmpeg.avGetCodecName(codecId);
    return (codec === 'h264' || codec === 'hevc') && extradata?.[0] === 1;
  });
  return isTold && iformat?.name?.split(',')[0] === 'mov';
}

/**
 * FFmpeg calls these callbacks inside its own reads, in this thread. A callback that threw would be called again by
 * another and would wait for ever. So an error is kept, and `checkReads` throws it after the read.
 */
function openIo(ffmpeg: Ffmpeg, { sizeBytes, read }: VideoBytes): { io: IoContext; checkReads(): void } {
  const io = new ffmpeg.IOContext();
  let position = 0;
  let failure: { error: unknown } | undefined;
  const readNext = (length: number): Buffer | number => {
    if (failure) return averror.io;
    try {
      const bytes = read(position, length);
      position += bytes.length;
      return bytes.length > 0 ? bytes : averror.eof;
    } catch (error) {
      failure = { error };
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
  const checkReads = () => {
    if (failure) throw failure.error;
  };
  return { io, checkReads };
}
