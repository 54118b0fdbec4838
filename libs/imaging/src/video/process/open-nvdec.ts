import { type UnitLayout, unitLayoutOf } from './annex-b.ts';
import { type Ffmpeg, fullRange } from './ffmpeg.ts';
import { Nvdec } from './nvdec.ts';
import type { NvdecStream } from './nvdec-run.ts';
import type { NvdecCodec } from './nvdec-structs.ts';
import type { PacketReader } from './open-video.ts';
import type { HardwareFound, SegmentRequest } from './segment-request.ts';
import { whyOnCores } from './why-on-cores.ts';

/** Hardware that decodes a segment. */
export interface NvdecForStream {
  nvdec: Nvdec;
  stream: NvdecStream;
  /** Call `failed` when the hardware breaks down, and `doubted` when cores have to decode the segment again. */
  failed(error: Error): void;
  doubted(): void;
}

/** Kept until the process ends. `missing` is the reason if there is no hardware. */
let opened: Nvdec | undefined;
let missing: string | undefined;
/** Memory that is registered with the hardware once that is open. */
let memory: Uint8Array | undefined;

/** Frames are copied into this memory directly, which is quicker than into other memory. */
export function setHardwareTarget(bytes: Uint8Array): void {
  memory = bytes;
}

function openOnce(): Nvdec | undefined {
  if (opened || missing !== undefined) return opened;
  try {
    opened = new Nvdec();
    if (memory) opened.register(memory);
  } catch (error) {
    missing = (error as Error).message;
  }
  return opened;
}

interface Told {
  note(line: string): void;
  hardware(found: HardwareFound): void;
}

/** Opens hardware for a segment; undefined if cores have to decode it, which `note` and `hardware` are told. */
export function openNvdec(
  ffmpeg: Ffmpeg,
  reader: PacketReader,
  request: SegmentRequest,
  { note, hardware }: Told,
): NvdecForStream | undefined {
  const without = (why: string, engines: number): undefined => {
    note(`Cores decode instead of hardware: ${why}`);
    hardware({ engines, isUsed: false });
  };
  const nvdec = openOnce();
  if (!nvdec) return without(missing!, 0);
  const codec = reader.codec.name ?? '';
  const { engines } = nvdec.caps('h264');
  if (!isTaken(codec)) return without(`it is for H.264 and H.265, and this is ${codec}`, engines);
  const caps = nvdec.caps(codec);
  const layout = layoutOf(codec, reader);
  const { width, height, colorRange, format } = reader.stream.codecpar;
  const pixels = ffmpeg.avGetPixFmtName(format) ?? 'unknown pixels';
  const hasNewSets = reader.newExtradata !== undefined;
  const why = layout
    ? whyOnCores(caps, { width, height, pixels, hasNewSets, first: reader.last! }, request)
    : 'its parameter sets are not where they should be';
  if (!layout || why !== undefined) return without(why!, engines);
  const isFullRange = colorRange === fullRange || pixels === 'yuvj420p';
  hardware({ engines, isUsed: true });
  return {
    nvdec,
    stream: { codec, layout, expected: { width, height, isFullRange } },
    failed: (error) => {
      opened = undefined;
      missing = error.message;
      note(`Cores decode instead of hardware: ${missing}`);
      hardware({ engines: 0, isUsed: false });
    },
    doubted: () => {
      note('Hardware leaves a doubt about a video, which may be damaged: cores decode it');
      hardware({ engines, isUsed: false });
    },
  };
}

const isTaken = (codec: string): codec is NvdecCodec => codec === 'h264' || codec === 'hevc';

function layoutOf(codec: NvdecCodec, { stream }: PacketReader): UnitLayout | undefined {
  try {
    return unitLayoutOf(codec, stream.codecpar.extradata);
  } catch {
    return undefined;
  }
}
