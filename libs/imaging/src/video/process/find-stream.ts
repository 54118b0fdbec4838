import { InputError } from '@halogrid/sources/input-error';
import { attachedPicture, averror, type Ffmpeg, type Stream, videoType } from './ffmpeg.ts';
import { type FormatOptions, type OpenFormat, openFormat } from './open-format.ts';
import type { VideoBytes } from './video-bytes.ts';

/** FFmpeg's names of codecs: a track with one of these may be a cover picture that is not marked as one. */
const stills = ['mjpeg', 'png', 'bmp', 'gif', 'webp', 'tiff'];

/** The most packets of all tracks in which a second picture is searched. */
const lookedAt = 1000;

/**
 * The number of the video stream: the first that is neither a cover picture nor a track of one picture before a film.
 */
export function findStream(ffmpeg: Ffmpeg, bytes: VideoBytes, { context }: OpenFormat, options: FormatOptions): number {
  const streams = context.streams ?? [];
  const videos = streams.filter(({ codecpar, disposition }) => {
    return codecpar.codecType === videoType && !(disposition & attachedPicture);
  });
  if (videos.length === 0) {
    const others = streams.length > 0 ? 'sound or other streams only' : 'no streams';
    throw new InputError('decode', `The file has no video: it has ${others}`);
  }
  const isStill = ({ codecpar }: Stream): boolean => stills.includes(ffmpeg.avGetCodecName(codecpar.codecId) ?? '');
  const film = videos.findIndex((stream) => !isStill(stream));
  if (film <= 0) return videos[0]!.index;
  const numbers = videos.slice(0, film).map(({ index }) => index);
  const several = withSeveralPackets(ffmpeg, bytes, numbers, options);
  return several ?? videos[film]!.index;
}

/** The first of `streams` with more than one packet; undefined if none has. */
function withSeveralPackets(
  ffmpeg: Ffmpeg,
  bytes: VideoBytes,
  streams: readonly number[],
  options: FormatOptions,
): number | undefined {
  const format = openFormat(ffmpeg, bytes, options);
  const packet = new ffmpeg.Packet();
  packet.alloc();
  try {
    const counts = new Map(streams.map((stream) => [stream, 0]));
    for (let i = 0; i < lookedAt && counts.get(streams[0]!)! < 2; i++) {
      packet.unref();
      const code = format.context.readFrameSync(packet);
      format.checkReads();
      if (code === averror.again) continue;
      if (code < 0) break;
      const count = counts.get(packet.streamIndex);
      if (count !== undefined) counts.set(packet.streamIndex, count + 1);
    }
    return streams.find((stream) => counts.get(stream)! > 1);
  } finally {
    packet.free();
    format.close();
  }
}
