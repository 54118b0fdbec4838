import { averror, type Ffmpeg, videoType } from './ffmpeg.ts';
import { openFormat } from './open-format.ts';
import { openVideoBytes } from './video-bytes.ts';

/** Decodes a local video in one thread, lets go of all frames, and returns how many there were: what decoding alone costs. */
export function decodeToNull(ffmpeg: Ffmpeg, path: string): number {
  const { context, close } = openFormat(ffmpeg, openVideoBytes({ path }));
  const stream = context.streams!.find(({ codecpar }) => codecpar.codecType === videoType)!;
  const codec = ffmpeg.Codec.findDecoder(stream.codecpar.codecId)!;
  const decoder = new ffmpeg.CodecContext();
  decoder.allocContext3(codec);
  decoder.parametersToContext(stream.codecpar);
  ffmpeg.Option.set(decoder, 'threads', '1', 0);
  decoder.open2Sync(codec, null);
  const packet = new ffmpeg.Packet();
  packet.alloc();
  const frame = new ffmpeg.Frame();
  frame.alloc();
  let frames = 0;
  const drain = () => {
    for (; decoder.receiveFrameSync(frame) >= 0; frames++) frame.unref();
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
  decoder.freeContext();
  close();
  return frames;
}
