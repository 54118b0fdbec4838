import { loadKoffi } from '@halogrid/threads/load-koffi';
import { ExpandKernel } from './expand-kernel.ts';
import {
  capsOf,
  chroma420,
  decoderOf,
  decodeStatus,
  displayInfoBytes,
  mappingOf,
  type NvdecCaps,
  type NvdecCodec,
  type NvdecPicture,
  type NvdecSequence,
  outBytes,
  packetOf,
  parserOf,
  pictureBytes,
  readCaps,
  readNvdecPicture,
  readOut,
  readSurface,
  readVideoFormat,
  rowsToHost,
  statusBytes,
  videoFormatBytes,
} from './nvdec-structs.ts';
import { check, loadNvidiaDriver, type NvidiaDriver } from './nvidia-driver.ts';

/** Pictures that are decoded while one is fetched, and surfaces for them. */
const displayDelay = 4;
const moreSurfaces = 8;
const blockingSync = 4;
/**
 * The default stream: the device does one thing after another in it, and after the driver's own work. In a stream
 * beside it (CU_STREAM_NON_BLOCKING), 3 of 48,000 frames were read before they had been written, and came out as the
 * frame before.
 */
const stream = 0n;

/** Called while a stream is parsed, in the order of decoding except for `display`. */
export interface NvdecSink {
  /** The pictures that follow are of this sequence. Returns false if they are not to be decoded. */
  sequence(sequence: NvdecSequence): boolean;
  /** A picture is about to be decoded. */
  decode(picture: NvdecPicture): void;
  /** A picture is to be shown; `write` and `isFine` are valid during the call. */
  display(surface: number): void;
}

/** NVIDIA's decoding engines, by one CUDA context that this process keeps; one stream at a time. */
export class Nvdec {
  readonly #driver: NvidiaDriver;
  readonly #expand: ExpandKernel;
  readonly #out = Buffer.alloc(outBytes);
  readonly #called: Parameters<typeof parserOf>[2];
  /** Kept for the next stream: making one takes 0.1 s. */
  #decoder: { handle: bigint; key: string } | undefined;
  #sequence: NvdecSequence | undefined;
  /** The picture that is displayed. */
  #mapped = { address: 0n, stride: 0 };
  #scratch = { address: 0n, bytes: 0 };
  #sink: NvdecSink | undefined;
  /**
   * Begins with the picture that is parsed. It is kept here because the driver only has its address, which keeps
   * nothing from being collected.
   */
  #picture = Buffer.alloc(0);
  #codec: NvdecCodec = 'h264';
  #failure: unknown;

  /** Throws Error with the reason if there are no engines. */
  constructor(driver = loadNvidiaDriver()) {
    this.#driver = driver;
    check(driver.init(0), 'begin');
    const device = Buffer.alloc(4);
    check(driver.deviceGet(device, 0), 'find a card');
    // Without this, the process would use a core while it waits.
    driver.setContextFlags(device.readInt32LE(0), blockingSync);
    check(driver.retainContext(this.#out, device.readInt32LE(0)), 'open a context');
    check(driver.setCurrent(readOut(this.#out)), 'use a context');
    this.#expand = new ExpandKernel(driver, stream);
    const { called } = driver;
    const koffi = loadKoffi();
    const register = (act: (at: number | bigint) => number, type: (typeof called)['decode']): bigint =>
      BigInt(
        koffi.register(
          (_user: unknown, at: number | bigint) => this.#guard(() => act(at)),
          koffi.pointer(type),
        ) as bigint,
      );
    this.#called = {
      sequence: register((at) => this.#onSequence(readVideoFormat(bytesAt(at, videoFormatBytes))), called.sequence),
      decode: register((at) => this.#onDecode(at), called.decode),
      display: register((at) => this.#onDisplay(at), called.display),
    };
  }

  /** What the engines can decode of a codec, for 8 bits in 4:2:0. */
  caps(codec: NvdecCodec): NvdecCaps {
    const bytes = capsOf(codec);
    check(this.#driver.capabilities(bytes), 'say what it decodes');
    return readCaps(bytes);
  }

  /** Lets copies go straight into this memory, which must stay where it is. Without it, copies are slower. */
  register(memory: Uint8Array): void {
    this.#driver.register(loadKoffi().address(memory), memory.length, 0);
  }

  /**
   * Decodes a stream: `feed` gives its pictures one after another, each with all its units, behind start codes. Throws
   * what the sink throws, and Error if the hardware fails; `give` does so too.
   */
  decode(codec: NvdecCodec, sink: NvdecSink, feed: (give: (picture: Buffer) => void) => void): void {
    this.#codec = codec;
    this.#sink = sink;
    this.#failure = undefined;
    check(this.#driver.createParser(this.#out, parserOf(codec, displayDelay, this.#called)), 'create a parser');
    const parser = readOut(this.#out);
    try {
      feed((picture) => {
        this.#picture = picture.length > this.#picture.length ? Buffer.from(picture) : this.#picture;
        picture.copy(this.#picture);
        this.#parse(parser, packetOf(loadKoffi().address(this.#picture), picture.length));
      });
      this.#parse(parser, packetOf());
    } finally {
      this.#driver.destroyParser(parser);
      this.#sink = undefined;
    }
  }

  /**
   * Whether a surface was decoded without an error that the engine noticed. Call it once this surface, or a later one,
   * is displayed.
   */
  isFine(surface: number): boolean {
    const status = Buffer.alloc(statusBytes);
    const code = this.#driver.decodeStatus(this.#decoder!.handle, surface, status);
    return code === 0 && status.readInt32LE(0) === decodeStatus.success;
  }

  /** Writes the visible luma of the surface that is displayed as gray, rows `stride` bytes apart. Throws Error. */
  write(to: Uint8Array, stride: number): void {
    const sequence = this.#sequence!;
    const { stride: fromStride } = this.#mapped;
    const at = this.#mapped.address + BigInt(sequence.top * fromStride + sequence.left);
    let from = { address: at, stride: fromStride };
    if (!sequence.isFullRange) {
      const expanded = { address: this.#reserve(fromStride * sequence.height), stride: fromStride };
      this.#expand.run(from, expanded, sequence);
      from = expanded;
    }
    const target = { address: BigInt(loadKoffi().address(to)), stride };
    check(this.#driver.copyRows(rowsToHost(from, target, sequence), stream), 'copy a frame');
    check(this.#driver.synchronize(stream), 'wait for a frame');
  }

  #parse(parser: bigint, packet: Buffer): void {
    const code = this.#driver.parse(parser, packet);
    if (this.#failure !== undefined) throw this.#failure;
    check(code, 'parse a picture');
  }

  /** An error must not pass through the driver: it is kept, and thrown when the driver has returned. */
  #guard(act: () => number): number {
    if (this.#failure !== undefined) return 0;
    try {
      return act();
    } catch (error) {
      this.#failure = error;
      return 0;
    }
  }

  #onSequence(sequence: NvdecSequence): number {
    const { codedWidth, codedHeight, chroma, bits, surfaces } = sequence;
    if (chroma !== chroma420 || bits !== 8 || !this.#sink!.sequence(sequence)) throw new NotForHardwareError();
    this.#sequence = sequence;
    const key = [this.#codec, codedWidth, codedHeight, surfaces].join();
    if (this.#decoder?.key !== key) this.#open(sequence, key);
    return surfaces + moreSurfaces;
  }

  #open(sequence: NvdecSequence, key: string): void {
    if (this.#decoder) this.#driver.destroyDecoder(this.#decoder.handle);
    this.#decoder = undefined;
    const info = decoderOf(this.#codec, sequence, sequence.surfaces + moreSurfaces);
    const out = Buffer.alloc(outBytes);
    check(this.#driver.createDecoder(out, info), 'open a decoder');
    this.#decoder = { handle: readOut(out), key };
  }

  #onDecode(at: number | bigint): number {
    this.#sink!.decode(readNvdecPicture(bytesAt(at, pictureBytes)));
    check(this.#driver.decodePicture(this.#decoder!.handle, at), 'decode a picture');
    return 1;
  }

  #onDisplay(at: number | bigint): number {
    // At the end of a stream there may be no picture.
    if (BigInt(at) === 0n) return 1;
    const surface = readSurface(bytesAt(at, displayInfoBytes));
    const { handle } = this.#decoder!;
    const [out, pitch] = [Buffer.alloc(outBytes), Buffer.alloc(4)];
    check(this.#driver.map(handle, surface, out, pitch, mappingOf(stream)), 'fetch a picture');
    const address = readOut(out);
    this.#mapped = { address, stride: pitch.readUInt32LE(0) };
    try {
      check(this.#driver.synchronize(stream), 'wait for a picture');
      this.#sink!.display(surface);
    } finally {
      this.#driver.unmap(handle, address);
    }
    return 1;
  }

  #reserve(bytes: number): bigint {
    if (this.#scratch.bytes < bytes) {
      if (this.#scratch.bytes > 0) this.#driver.free(this.#scratch.address);
      const out = Buffer.alloc(outBytes);
      check(this.#driver.allocate(out, bytes), 'allocate memory');
      this.#scratch = { address: readOut(out), bytes };
    }
    return this.#scratch.address;
  }
}

/** The stream turns out to be one that hardware cannot decode. */
export class NotForHardwareError extends Error {
  constructor() {
    super('Hardware cannot decode the stream');
    this.name = 'NotForHardwareError';
  }
}

const bytesAt = (address: number | bigint, bytes: number): Buffer =>
  Buffer.from(loadKoffi().view(BigInt(address), bytes));
