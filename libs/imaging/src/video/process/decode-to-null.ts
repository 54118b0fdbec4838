import { averror, type Codec, type Ffmpeg, type HardwareDeviceContext, videoType } from './ffmpeg.ts';
import { openFormat } from './open-format.ts';
import { openVideoBytes } from './video-bytes.ts';

/**
 * Decodes a local video in one thread, drops all frames, and returns their number: this measures decoding alone. With
 * hardware, frames are fetched from it.
 */
export function decodeToNull(ffmpeg: Ffmpeg, path: string, hardware?: NullHardware): number {
  const { context, close } = openFormat(ffmpeg, openVideoBytes({ path }));
  const stream = context.streams!.find(({ codecpar }) => codecpar.codecType === videoType)!;
  const codec = ffmpeg.Codec.findDecoder(stream.codecpar.codecId)!;
  const decoder = new ffmpeg.CodecContext();
  decoder.allocContext3(codec);
  decoder.parametersToContext(stream.codecpar);
  ffmpeg.Option.set(decoder, 'threads', '1', 0);
  if (hardware) {
    decoder.hwDeviceCtx = hardware.context;
    decoder.setHardwarePixelFormat(pixelsOf(codec, hardware.type));
  }
  decoder.open2Sync(codec, null);
  const packet = new ffmpeg.Packet();
  packet.alloc();
  const frame = new ffmpeg.Frame();
  frame.alloc();
  let frames = 0;
  const fetched = new ffmpeg.Frame();
  fetched.alloc();
  const drain = () => {
    for (; decoder.receiveFrameSync(frame) >= 0; frames++) {
      if (hardware && frame.hwframeTransferDataSync(fetched) < 0) throw new Error('A frame cannot be fetched');
      fetched.unref();
      frame.unref();
    }
  };
  for (let code = 0; code !== averror.eof; packet.unref()) {
    code = context.readFrameSync(packet);
    if (code < 0 || packet.streamIndex !== stream.index) continue;
    decoder.sendPacketSync(packet);
    drain();
  }
  decoder.sendPacketSync(null);
  drain();
  packet.free();
  frame.free();
  fetched.free();
  decoder.freeContext();
  close();
  return frames;
}

export interface NullHardware {
  type: number;
  context: HardwareDeviceContext;
}

/**
 * Opens hardware by FFmpeg's name of the method. Throws Error with FFmpeg's reason if it is missing. It must be freed.
 */
export function openNullHardware(ffmpeg: Ffmpeg, method: string): NullHardware {
  const type = ffmpeg.HardwareDeviceContext.findTypeByName(method);
  const context = new ffmpeg.HardwareDeviceContext();
  const code = context.create(type, null, null);
  if (code < 0) throw new Error(`FFmpeg has no ${method} here: ${ffmpeg.FFmpegError.strerror(code)}`);
  return { type, context };
}

function pixelsOf(codec: Codec, type: number): number {
  for (let i = 0; ; i++) {
    const config = codec.getHwConfig(i);
    if (!config) throw new Error(`FFmpeg decodes no ${codec.name} so`);
    if (config.deviceType === type) return config.pixFmt;
  }
}
