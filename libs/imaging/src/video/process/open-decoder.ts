import { InputError } from '@halogrid/sources/input-error';
import { type CodecContext, type Ffmpeg, type HardwareDeviceContext, hwDeviceMethod, newExtradata } from './ffmpeg.ts';
import type { PacketReader } from './open-video.ts';

/**
 * Hardware that decodes through FFmpeg. Its context is kept as long as the process lives: making one takes longer than
 * a segment.
 */
export interface FfmpegHardware {
  context: HardwareDeviceContext;
  /** The format of its frames. */
  pixels: number;
}

/**
 * Opens a decoder for the packets of a reader from the last one on, which the decoder has not seen. It must be freed.
 * Throws InputError.
 */
export function openDecoder(ffmpeg: Ffmpeg, reader: PacketReader, hardware: FfmpegHardware | undefined): CodecContext {
  const { codec, stream, current } = reader;
  const decoder = new ffmpeg.CodecContext();
  decoder.allocContext3(codec);
  const copied = decoder.parametersToContext(stream.codecpar);
  decoder.pktTimebase = stream.timeBase;
  if (hardware) {
    decoder.hwDeviceCtx = hardware.context;
    decoder.setHardwarePixelFormat(hardware.pixels);
  }
  // A dictionary of options would be freed twice by the package (measured).
  const set = (name: string, value: string) => ffmpeg.Option.set(decoder, name, value, 0);
  set('threads', '1');
  set('flags', '+bitexact');
  // Holds frames back as long as the standard allows. If the stream does not say how long, a lower guess may lose some.
  if (codec.name === 'h264') set('strict', 'strict');
  const code = copied < 0 ? copied : decoder.open2Sync(codec, null);
  if (code < 0) {
    decoder.freeContext();
    throw new InputError('decode', `The decoder does not take the video: ${ffmpeg.FFmpegError.strerror(code)}`);
  }
  // New parameter sets come only with the packet from which on they hold, but this decoder needs them with its first
  // packet.
  if (reader.newExtradata && !current.getSideData(newExtradata)) current.addSideData(newExtradata, reader.newExtradata);
  return decoder;
}

/** Contexts by their type. */
const contexts = new Map<number, HardwareDeviceContext>();

/** Frees all hardware that was opened, at the end of the process. */
export function closeHardware(): void {
  for (const context of contexts.values()) context.free();
}

/** Opens hardware by FFmpeg's name of the method; undefined if it is missing, which is logged. */
export function openFfmpegHardware(
  ffmpeg: Ffmpeg,
  { codec }: PacketReader,
  method: string,
  note: (line: string) => void,
): FfmpegHardware | undefined {
  const type = ffmpeg.HardwareDeviceContext.findTypeByName(method);
  for (let i = 0; ; i++) {
    const config = codec.getHwConfig(i);
    if (!config) break;
    if (config.deviceType !== type || !(config.methods & hwDeviceMethod)) continue;
    const kept = contexts.get(type);
    if (kept) return { context: kept, pixels: config.pixFmt };
    const context = new ffmpeg.HardwareDeviceContext();
    const code = context.create(type, null, null);
    if (code >= 0) {
      contexts.set(type, context);
      return { context, pixels: config.pixFmt };
    }
    context.free();
    note(`--hwaccel ${method} is not available here (${ffmpeg.FFmpegError.strerror(code)}): decoding without it`);
    return undefined;
  }
  note(`--hwaccel ${method} does not decode ${codec.name}: decoding without it`);
  return undefined;
}
