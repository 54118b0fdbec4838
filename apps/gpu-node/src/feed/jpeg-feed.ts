import type { PlaneTarget } from '@halogrid/imaging';
import { isRemoteUri } from '@halogrid/sources';
import type { Device } from '../devices/device.ts';
import type { AskedFile } from './asked-files.ts';
import type { DecodeChoice } from './decode-choice.ts';
import { type Decoder, earliestFinish } from './earliest-finish.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import type { JpegThreads } from './jpeg-threads.ts';
import { readRemoteJpegs } from './read-remote.ts';
import { type WorkDone, WorkRate } from './work-rate.ts';

export interface JpegFeedOptions {
  choice: DecodeChoice;
  device: Device;
  /** What JPEGs are decoded to: the rates of both are others. */
  channels: PlaneTarget['channels'];
  threads: Pick<JpegThreads, 'read'>;
  /** Bytes a second that this device was measured to decode to these before, if it was. */
  readRate(): Promise<number | undefined>;
  /** Never rejects. */
  keepRate(bytesPerSecond: number): Promise<void>;
  nowMs: () => number;
  /** Takes a line for the log. */
  note: (line: string) => void;
}

/**
 * Frames that cores decode before the device gets ready to: what is done sooner needs no decoder that takes time to compile, and no
 * threads. A shard has 64 of 1080p.
 */
const framesBefore = 256;
/** Batches of the device after which its rate is kept. */
const batchesMeasured = 16;

/** Who decodes the JPEGs of a node to gray, or to colours: batches of them are read for the device, or left to cores, by who is done with them first. */
export class JpegFeed {
  readonly #options: JpegFeedOptions;
  readonly #rates: Record<Decoder, WorkRate>;
  #state: 'not wanted yet' | 'getting ready' | 'ready' | 'refused';
  /** Frames that were asked about. */
  #frames = 0;
  /** Batches that the device has decoded, while its rate is to be kept. */
  #measured = 0;
  #isKept = false;

  constructor(options: JpegFeedOptions) {
    const { choice, device, nowMs } = options;
    this.#options = options;
    this.#rates = { device: new WorkRate(nowMs), cores: new WorkRate(nowMs) };
    // A software device decodes on the cores as well, and a hundred times slower.
    const isWorthIt = choice === 'gpu' || (choice === 'auto' && device.info.kind === 'gpu');
    this.#state = isWorthIt && device.jpegs ? 'not wanted yet' : 'refused';
  }

  /** Whether the device may ever decode. */
  get isOn(): boolean {
    return this.#state !== 'refused';
  }

  /** Who decodes so many frames, of so many bytes. */
  choose(frames: number, bytes: number): Decoder {
    if (!this.isOn) return 'cores';
    if (this.#options.choice === 'gpu') return 'device';
    this.#frames += frames;
    if (this.#state === 'not wanted yet' && this.#frames > framesBefore) void this.#getReady();
    if (this.#state !== 'ready') return 'cores';
    const { device, cores } = this.#rates;
    return earliestFinish(bytes, { device, cores });
  }

  /** Does `work`, which is to decode so many bytes there, and resolves with what it does. */
  async during<Done extends WorkDone>(decoder: Decoder, bytes: number, work: () => Promise<Done>): Promise<Done> {
    const rate = this.#rates[decoder];
    rate.begin(bytes);
    let done: WorkDone = { done: 0 };
    try {
      const result = await work();
      done = result;
      return result;
    } finally {
      rate.end(bytes, done);
      if (decoder === 'device' && done.done > 0) this.#keep();
    }
  }

  /** Reads files for the device, all of this machine or all of servers, whose connections are those of the caller's thread. */
  read(files: readonly AskedFile[], to: Uint8Array, limits: JpegLimits): Promise<EncodedBatch> {
    if (files[0] && isRemoteUri(files[0].uri)) return readRemoteJpegs(files, to, limits);
    return this.#options.threads.read(files, to, limits);
  }

  async #getReady(): Promise<void> {
    this.#state = 'getting ready';
    const { device, channels, nowMs, note, readRate } = this.#options;
    try {
      const [known] = await Promise.all([readRate(), device.jpegs!.prepare(channels)]);
      if (known) {
        this.#isKept = true;
        this.#rates.device = new WorkRate(nowMs, known);
      }
      this.#state = 'ready';
    } catch (error) {
      this.#state = 'refused';
      note(`Cores decode all JPEGs, because the device does not: ${(error as Error).message}`);
    }
  }

  /** Keeps the rate of the device once it is known well. */
  #keep(): void {
    if (this.#isKept || ++this.#measured < batchesMeasured) return;
    this.#isKept = true;
    if (this.#options.choice === 'auto') void this.#options.keepRate(this.#rates.device.rate!);
  }
}
