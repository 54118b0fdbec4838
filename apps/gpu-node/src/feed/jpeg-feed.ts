import type { PlaneTarget } from '@halogrid/imaging';
import { isRemoteUri } from '@halogrid/sources';
import type { NodeDevice } from '../devices/device.ts';
import type { AskedFile } from './asked-files.ts';
import type { DecodeChoice } from './decode-choice.ts';
import { DecodeTrials } from './decode-trials.ts';
import { type Decoder, earliestFinish } from './earliest-finish.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import type { JpegThreads } from './jpeg-threads.ts';
import { readRemoteJpegs } from './read-remote.ts';
import { type WorkDone, WorkRate } from './work-rate.ts';
import { WorkTurns } from './work-turns.ts';

export interface JpegFeedOptions {
  choice: DecodeChoice;
  device: NodeDevice;
  /** The channels that JPEGs are decoded to. Each has rates of its own. */
  channels: PlaneTarget['channels'];
  threads: Pick<JpegThreads, 'read'>;
  /**
   * Pieces of work that keep the cores busy. While the device gets ready, cores have no more than these at once,
   * because the device would finish further ones earlier.
   */
  coresAtOnce: number;
  /** The device's rate of decoding to these channels in bytes a second, if it was measured before. */
  readRate(): Promise<number | undefined>;
  /** Keeps that rate for later processes. Never rejects. */
  keepRate(bytesPerSecond: number): Promise<void>;
  nowMs: () => number;
  /** Logs a line. */
  note: (line: string) => void;
}

/**
 * Frames that cores decode before the device gets ready. A shorter run is not worth compiling a decoder and starting
 * threads. A shard has 64 frames of 1080p.
 */
const framesBefore = 256;
/** Batches of the device after which its rate is kept. */
const batchesMeasured = 16;

/** Functions that decode a piece of work and return how much was done, one for each decoder. */
type Work = Readonly<Record<Decoder, () => Promise<WorkDone>>>;

/**
 * Chooses for each batch of a node's JPEGs whether the device or cores decode it, to gray or to colours. Reads batches
 * for the device.
 */
export class JpegFeed {
  readonly #options: JpegFeedOptions;
  readonly #rates: Record<Decoder, WorkRate>;
  readonly #trials = new DecodeTrials();
  readonly #turns: WorkTurns;
  #state: 'not wanted yet' | 'getting ready' | 'ready' | 'refused';
  /** Resolves when cores have finished a piece of work, or the device is ready or refuses. */
  #mayBegin = Promise.withResolvers<void>();
  /** Frames requested so far. */
  #frames = 0;
  /** Pieces of work under way on cores. */
  #onCores = 0;
  /** Batches that the device has decoded, until its rate is kept. */
  #measured = 0;
  #isKept = false;

  constructor(options: JpegFeedOptions) {
    const { choice, device, nowMs } = options;
    this.#options = options;
    this.#rates = { device: new WorkRate(nowMs), cores: new WorkRate(nowMs) };
    this.#turns = new WorkTurns(nowMs, (rate) => this.#turnMeasured(rate));
    // A software device decodes on the cores as well, and a hundred times slower.
    const isWorthIt = choice === 'gpu' || (choice === 'auto' && device.info.kind === 'gpu');
    this.#state = isWorthIt && device.jpegs ? 'not wanted yet' : 'refused';
  }

  /** Whether the device may ever decode. */
  get isOn(): boolean {
    return this.#state !== 'refused';
  }

  /** Chooses a decoder and runs its `work` on `frames` frames of `bytes` bytes in all. Rejects as the work does. */
  async decode(frames: number, bytes: number, work: Work): Promise<void> {
    const { choice } = this.#options;
    this.#frames += frames;
    if (choice === 'auto' && this.#state === 'not wanted yet' && this.#frames > framesBefore) void this.#getReady();
    while (this.#state === 'getting ready' && this.#onCores >= this.#options.coresAtOnce) await this.#mayBegin.promise;
    const decoder = this.#choose(bytes);
    await this.#during(decoder, bytes, work[decoder]);
  }

  #choose(bytes: number): Decoder {
    if (!this.isOn) return 'cores';
    if (this.#options.choice === 'gpu') return 'device';
    if (this.#state !== 'ready') return 'cores';
    const { plan } = this.#trials;
    return plan === 'both' ? earliestFinish(bytes, this.#rates) : plan;
  }

  #turnMeasured(bytesPerSecond: number): 'same' | 'other' {
    const { plan } = this.#trials;
    const [device, cores] = [this.#rates.device.rate, this.#rates.cores.rate];
    // A decoder without a rate has not decoded anything yet, so the turn says nothing.
    if (device !== undefined && cores !== undefined) this.#trials.measured(bytesPerSecond, { device, cores });
    return this.#trials.plan === plan ? 'same' : 'other';
  }

  async #during(decoder: Decoder, bytes: number, work: () => Promise<WorkDone>): Promise<void> {
    const rate = this.#rates[decoder];
    rate.begin(bytes);
    const turn = this.#turns.begin();
    if (decoder === 'cores') this.#onCores++;
    let done: WorkDone = { done: 0 };
    try {
      done = await work();
    } finally {
      rate.end(bytes, done);
      this.#turns.end(turn, done.done);
      if (decoder === 'cores') {
        this.#onCores--;
        this.#wake();
      } else if (done.done > 0) this.#keep();
    }
  }

  #wake(): void {
    this.#mayBegin.resolve();
    this.#mayBegin = Promise.withResolvers();
  }

  /**
   * Reads files for the device: all from this machine, on threads, or all from servers, over the caller's connections.
   */
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
    this.#wake();
  }

  /** Keeps the rate of the device once enough batches have been measured. */
  #keep(): void {
    if (this.#isKept || ++this.#measured < batchesMeasured) return;
    this.#isKept = true;
    if (this.#options.choice === 'auto') void this.#options.keepRate(this.#rates.device.rate!);
  }
}
