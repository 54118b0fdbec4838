import { InputError } from '@halogrid/sources/input-error';
import type { VideoPacket } from '../video-frames.ts';
import { annexB, type UnitLayout } from './annex-b.ts';
import type { RunRequest, SentPacket } from './decode-run.ts';
import { newExtradata, packetFlags } from './ffmpeg.ts';
import { NotForHardwareError, type Nvdec, type NvdecSink } from './nvdec.ts';
import type { NvdecCodec, NvdecPicture, NvdecSequence } from './nvdec-structs.ts';
import type { PacketReader } from './open-video.ts';

/** The stream that hardware decodes in a run, and what its frames must be. */
export interface NvdecStream {
  codec: NvdecCodec;
  layout: UnitLayout;
  /** As the container and FFmpeg state it; hardware that finds something else is not used. */
  expected: { width: number; height: number; isFullRange: boolean };
}

/**
 * Decodes packets of a reader in hardware, from its last one on, as `decodeRun` does on cores. Hardware conceals
 * damage. So a packet is marked as damaged if the hardware, or what is easily seen of the packet, leaves a doubt. From
 * the first doubt on nothing is shown, and cores decode again. Not all damage leaves a doubt (docs/inputs.md). `failed`
 * is called if hardware breaks down. Throws InputError.
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
    // The rest of the packets is read in any case: cores need their list.
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
  /** Decoded pictures whose status was not asked for yet, in the order of decoding. */
  #undecided: { surface: number; packet: SentPacket }[] = [];
  readonly #shownOfGroup = new Map<number, number>();
  /** The frame number of the last reference picture of H.264. */
  #frameNumber = 0;
  /** The number of pictures in the last packet, and of slices in its last picture. */
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

  /** Reads packets up to the end; called again, it reads those that are left. */
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

  /** All pictures that were decoded before this one have to be fine as well, because it may be decoded from them. */
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
    // A picture that is shown before the first key frame may need pictures from before it. No other picture needs this
    // one, so it is left out, as decoders on cores do.
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

  /** ITU-T H.264 7.4.3: the number of each reference picture is one more than the last. */
  #leavesGap({ frameNumber, frameNumbers, isReference }: NvdecPicture, { isClean }: SentPacket): boolean {
    const last = isClean ? 0 : this.#frameNumber;
    if (isReference) this.#frameNumber = frameNumber;
    return frameNumber !== last && frameNumber !== (last + 1) % frameNumbers;
  }

  /** Asks for the status of the undecided pictures up to index `last`. */
  #decide(last: number): void {
    for (const { surface, packet } of this.#undecided.splice(0, last + 1)) {
      if (!this.#nvdec.isFine(surface)) this.doubt(packet);
    }
  }
}
