import { InputError } from '@halogrid/sources/input-error';
import type { VideoPacket } from '../video-frames.ts';
import { annexB, type UnitLayout } from './annex-b.ts';
import type { RunRequest, SentPacket } from './decode-run.ts';
import { newExtradata, packetFlags } from './ffmpeg.ts';
import { NotForHardwareError, type Nvdec, type NvdecSink } from './nvdec.ts';
import type { NvdecCodec, NvdecPicture, NvdecSequence } from './nvdec-structs.ts';
import type { PacketReader } from './open-video.ts';

/** What hardware decodes for a run, and as what its frames are expected. */
export interface NvdecStream {
  codec: NvdecCodec;
  layout: UnitLayout;
  /** As the container and FFmpeg have it; hardware that finds something else is not used. */
  expected: { width: number; height: number; isFullRange: boolean };
}

/**
 * Decodes packets of a reader in hardware, from its last one on, as `decodeRun` does on cores. Hardware conceals
 * damage, so packets are marked as damaged where it, or what is easily seen of them, leaves a doubt; from the first
 * doubt on nothing is shown, and cores are to decide. Not all damage leaves one (docs/inputs.md). `failed` is told of
 * hardware that breaks down. Throws InputError.
 */
export function nvdecRun(
  nvdec: Pick<Nvdec, 'decode' | 'isFine' | 'write'>,
  reader: Pick<PacketReader, 'last' | 'read' | 'current' | 'newExtradata'>,
  stream: NvdecStream,
  request: Pick<RunRequest, 'isEnd' | 'show'>,
  failed: (error: Error) => void,
): SentPacket[] {
  const run = new NvdecRun(nvdec, reader, stream, request);
  try {
    nvdec.decode(stream.codec, run, (give) => run.feed(give));
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (!(error instanceof NotForHardwareError)) failed(error as Error);
    run.doubt();
    // Packets are read in any case: cores are told of them.
    run.feed(() => {});
  }
  return run.sent;
}

const doubtful = 'the hardware leaves a doubt';

class NvdecRun implements NvdecSink {
  readonly sent: SentPacket[] = [];
  readonly #nvdec: Pick<Nvdec, 'isFine' | 'write'>;
  readonly #reader: Pick<PacketReader, 'last' | 'read' | 'current' | 'newExtradata'>;
  readonly #stream: NvdecStream;
  readonly #request: Pick<RunRequest, 'isEnd' | 'show'>;
  readonly #packets = new Map<number, SentPacket>();
  /** In the order of decoding, those of which nobody has asked yet how that went. */
  #undecided: { surface: number; packet: SentPacket }[] = [];
  readonly #shownOfGroup = new Map<number, number>();
  /** The number of the last picture of H.264 from which others may be decoded. */
  #frameNumber = 0;
  /** Pictures of the last packet, and slices of its last one. */
  #decoded = 0;
  #slices = 0;
  #isInDoubt = false;
  #isFed = false;

  constructor(
    nvdec: Pick<Nvdec, 'isFine' | 'write'>,
    reader: Pick<PacketReader, 'last' | 'read' | 'current' | 'newExtradata'>,
    stream: NvdecStream,
    request: Pick<RunRequest, 'isEnd' | 'show'>,
  ) {
    this.#nvdec = nvdec;
    this.#reader = reader;
    this.#stream = stream;
    this.#request = request;
  }

  /** Reads packets up to the end; called again, those that are left. */
  feed(give: (picture: Buffer) => void): void {
    if (this.#isFed) return;
    const { sent } = this;
    let packet = sent.length === 0 ? this.#reader.last : this.#reader.read();
    for (; packet && (sent.length === 0 || !this.#request.isEnd(packet)); packet = this.#reader.read()) {
      const group = packet.isKey || sent.length === 0 ? packet.packet : sent.at(-1)!.group;
      sent.push({ ...packet, group, isShown: false });
      if (!this.#isInDoubt) this.#give(packet, give);
    }
    this.#isFed = true;
  }

  doubt(packet = this.sent.at(-1)): void {
    this.#isInDoubt = true;
    if (packet) packet.damage ??= doubtful;
  }

  sequence({ width, height, isFullRange }: NvdecSequence): boolean {
    const { expected } = this.#stream;
    return width === expected.width && height === expected.height && isFullRange === expected.isFullRange;
  }

  decode(picture: NvdecPicture): void {
    const packet = this.sent.at(-1)!;
    this.#decoded++;
    const used = this.#undecided.findIndex(({ surface }) => surface === picture.surface);
    if (used >= 0) this.#decide(used);
    this.#undecided.push({ surface: picture.surface, packet });
    this.#packets.set(picture.surface, packet);
    if (picture.isField || (this.#stream.codec === 'h264' && this.#leavesGap(picture, packet))) this.doubt(packet);
    this.#slices = picture.slices;
  }

  /** What a picture was decoded from was decoded before it, so all of that has to be fine as well. */
  display(surface: number): void {
    const packet = this.#packets.get(surface);
    if (!packet || packet.isShown) this.doubt(packet);
    this.#decide(this.#undecided.findIndex((one) => one.packet === packet));
    if (this.#isInDoubt || !packet) return;
    packet.isShown = true;
    const order = this.#shownOfGroup.get(packet.group) ?? 0;
    this.#shownOfGroup.set(packet.group, order + 1);
    const { width, height } = this.#stream.expected;
    const write = (to: Uint8Array, stride: number) => this.#nvdec.write(to, stride);
    this.#request.show({
      frame: { width, height, pixel: 'u8', planes: 1, write },
      packet,
      order,
      isAfterDamage: false,
    });
  }

  #give(packet: VideoPacket, give: (picture: Buffer) => void): void {
    const { current, newExtradata: changed } = this.#reader;
    const { codec, layout } = this.#stream;
    const first = this.sent[0]!;
    const isAlone = packet.pts !== null && packet.pts >= (first.pts ?? Number.POSITIVE_INFINITY);
    // Shown before the key frame with which decoding begins, and maybe decoded from what came before: nothing else is
    // decoded from it, so it is left out, as by decoders on cores.
    const isInFirstGroup = this.sent.at(-1)!.group === first.packet;
    if (codec === 'hevc' && packet.pts !== null && first.pts !== null && !isAlone && isInFirstGroup) return;
    const isPlain = isAlone && !(current.flags & packetFlags.corrupt) && !changed && !current.getSideData(newExtradata);
    const units = isPlain && current.data ? annexB(codec, current.data, layout.lengthBytes) : undefined;
    if (!units) {
      this.doubt();
      return;
    }
    this.#decoded = 0;
    give(packet.isKey ? Buffer.concat([layout.parameterSets, units.bytes]) : units.bytes);
    if (this.#decoded !== 1 || this.#slices < units.slices) this.doubt();
  }

  /** ITU-T H.264 7.4.3: each reference picture is numbered by one more than the one before. */
  #leavesGap({ frameNumber, frameNumbers, isReference }: NvdecPicture, { isClean }: SentPacket): boolean {
    const last = isClean ? 0 : this.#frameNumber;
    if (isReference) this.#frameNumber = frameNumber;
    return frameNumber !== last && frameNumber !== (last + 1) % frameNumbers;
  }

  /** Asks of the first so many and one more how decoding them went. */
  #decide(last: number): void {
    for (const { surface, packet } of this.#undecided.splice(0, last + 1)) {
      if (!this.#nvdec.isFine(surface)) this.doubt(packet);
    }
  }
}
