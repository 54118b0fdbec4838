import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, getPriority, setPriority } from 'node:os';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { collectorFlags } from '@halogrid/threads/collector-flags';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { readerEnv } from '../reader-env.ts';
import { ByteStream } from './byte-stream.ts';
import { OrderReplies } from './conversation.ts';
import {
  aliveRecord,
  fullRecord,
  headFields,
  inline,
  messageRecord,
  type RecordHead,
  servedFd,
  type VideoMessage,
  type VideoOrder,
  type VideoTask,
  videoHeadBytes,
} from './process/video-protocol.ts';
import { serveRanges } from './serve-ranges.ts';
import type { SharedMemory } from './shared-memory.ts';
import type { VideoFile } from './video-file.ts';

const program = fileURLToPath(new URL('./process/video-process.ts', import.meta.url));

/**
 * How often a process is looked at and must have said nothing before it is killed, while a caller waits for it. It is
 * more before the first word, because a busy machine starts a process slowly.
 */
const looks = 12;
const firstLooks = 10 * looks;

/** What `giveWay` adds to a process's `nice` value: another process that wakes up soon has its core. */
const givesWayBy = 10;

/**
 * The most orders for one process. FFmpeg's package does not free the 64 KiB through which it reads a file: in a job of
 * 10,000 small files, the three processes that list and decode grew to 2.6 GB (measured). Starting another takes 0.3 s
 * of a core.
 */
const ordersOfOne = 1000;

export interface VideoReaderOptions {
  /** Makes the memory that luma goes through. Without it, or if it throws, luma goes through the pipe. */
  memory?: () => SharedMemory;
  /** Milliseconds after which a process is killed that is waited for and says nothing; 60,000 by default. */
  hangMs?: number | undefined;
  /** The number of orders after which the process gets no other. */
  mostOrders?: number | undefined;
  /** Called with one sentence that says why there is no shared memory. */
  note?: (line: string) => void;
}

/**
 * A process that reads videos. It carries out one order after another, and asks this process for bytes of files on
 * servers. It must be ended.
 */
export class VideoReader {
  /** Undefined if luma goes through the pipe. */
  readonly memory: SharedMemory | undefined;
  /** Resolves when the process has ended: with the reason, unless it exited with code 0. */
  readonly ended: Promise<unknown>;
  /** The file of its last order. */
  file: VideoFile | undefined;
  readonly #child: ChildProcess;
  readonly #hangMs: number;
  readonly #mostOrders: number;
  #orders = 0;
  #conversation: OrderReplies | undefined;
  #failure: unknown;
  #hasEnded = false;
  #hasSpoken = false;
  #hasEverSpoken = false;
  #fetches = 0;

  constructor({ memory, hangMs = 60_000, mostOrders = ordersOfOne, note = () => {} }: VideoReaderOptions = {}) {
    this.memory = memory && memoryOf(memory, note);
    this.#hangMs = hangMs;
    this.#mostOrders = mostOrders;
    // The process makes views of memory that FFmpeg owns. V8 counts each view as new memory, and would collect garbage
    // for 0.2 ms of each frame of 1080p (measured).
    const words = [...collectorFlags, program, String(this.memory?.bytes ?? 0)];
    const stdio = ['pipe', 'pipe', 'pipe', 'pipe', this.memory?.fd ?? 'ignore'] as const;
    // In a process group of its own: Ctrl-C then reaches only the program that started it, which ends it in order.
    this.#child = spawn(process.execPath, words, { stdio: [...stdio], env: readerEnv(), detached: true });
    this.memory?.closeFd();
    if (this.#child.pid === undefined) {
      // The reason comes later, as an event. An unhandled error event would end this process.
      this.#child.on('error', () => {});
      throw new Error('No decoder can be started: too many files are open, or no memory is left');
    }
    const socket = this.#child.stdio[servedFd] as Duplex;
    // The process may end at any time.
    for (const stream of [socket, this.#child.stdin!]) stream.on('error', () => {});
    void serveRanges(socket, (...range) => this.#fetch(...range), this.#kill);
    let text = '';
    this.#child.stderr!.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-4096);
    });
    this.ended = new Promise<unknown>((resolve) => {
      this.#child.on('error', resolve);
      // 'close' comes after the last of the output, and maybe before the input is closed.
      this.#child.on('close', async (code, signal) => {
        const input = this.#child.stdin!.destroy();
        if (!input.closed) await once(input, 'close');
        resolve(this.#failure ?? (code === 0 ? undefined : failureOf(code, signal, text)));
      });
    }).then((failure) => {
      this.#hasEnded = true;
      this.#conversation?.fail(failure ?? new Error('The decoder ended early'));
      this.memory?.release();
      return failure;
    });
    void this.#listen();
  }

  /**
   * Whether the process must be ended after its last order: because something was wrong, or because it has had as many
   * orders as one process gets.
   */
  get isSpent(): boolean {
    return this.#orders >= this.#mostOrders || (this.#conversation?.hasComplained ?? false);
  }

  /** Whether it can take another order. */
  get isFree(): boolean {
    return !this.#hasEnded && this.#failure === undefined && (this.#conversation?.isOver ?? true);
  }

  /** Gives the process an order; the file must stay open until the order is over. */
  order(file: VideoFile, task: VideoTask): OrderReplies {
    const conversation = new OrderReplies();
    this.#conversation = conversation;
    this.#orders++;
    this.file = file;
    this.#say({ ...task, access: file.access, version: file.version });
    const watch = this.#watch(conversation);
    void conversation.over.then(() => clearInterval(watch));
    if (this.#hasEnded) conversation.fail(new Error('The decoder has ended'));
    return conversation;
  }

  /** Lowers the process's priority, so that it gives way to processes that need a core only briefly. */
  giveWay(): void {
    try {
      setPriority(this.#child.pid!, Math.min(constants.priority.PRIORITY_LOW, getPriority() + givesWayBy));
    } catch {
      // The process has ended, or the system forbids this.
    }
  }

  /** Tells the process that frames have been taken from these places. */
  free(places: readonly number[]): void {
    if (!this.#hasEnded) this.#say({ kind: 'freed', places: [...places] });
  }

  /**
   * Ends the process, even if it is at work. Output that nobody has read is dropped: 'close' would wait until it is
   * read.
   */
  async end(): Promise<void> {
    this.#kill(undefined);
    this.#child.stdout!.destroy();
    await this.ended;
  }

  readonly #kill = (failure: unknown): void => {
    this.#failure ??= failure;
    this.#child.kill('SIGKILL');
  };

  #say(order: VideoOrder): void {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
  }

  async #fetch(...range: Parameters<VideoFile['read']>): Promise<Uint8Array> {
    this.#fetches++;
    try {
      return await this.file!.read(...range);
    } finally {
      this.#fetches--;
    }
  }

  /**
   * Kills a process that hangs. It counts looks, not time: if this process or the whole machine stands still, the other
   * process is not at fault.
   */
  #watch(conversation: OrderReplies): NodeJS.Timeout {
    let silent = 0;
    return setInterval(() => {
      const isQuiet = conversation.isAwaited && !this.#hasSpoken && this.#fetches === 0;
      silent = isQuiet ? silent + 1 : 0;
      this.#hasSpoken = false;
      if (silent >= (this.#hasEverSpoken ? looks : firstLooks)) this.#kill(new DecoderHungError(this.#hangMs));
    }, this.#hangMs / looks);
  }

  async #listen(): Promise<void> {
    const bytes = new ByteStream(this.#child.stdout!);
    const heads = new Float64Array(headFields.length);
    try {
      while (await bytes.fill(new Uint8Array(heads.buffer, 0, videoHeadBytes))) {
        const head = Object.fromEntries(headFields.map((field, i) => [field, heads[i]!])) as RecordHead;
        this.#hasSpoken = true;
        this.#hasEverSpoken = true;
        if (!(await this.#hear(head, bytes))) return;
      }
    } catch {
      // The process was ended in the middle of a record.
    }
  }

  async #hear(head: RecordHead, bytes: ByteStream): Promise<boolean> {
    const conversation = this.#conversation!;
    if (head.position === aliveRecord) return true;
    if (head.position === fullRecord) {
      conversation.full();
      return true;
    }
    const isHere = head.position === messageRecord || head.place === inline;
    const luma = isHere ? new Uint8Array(head.bytes) : undefined;
    if (luma && !(await bytes.fill(luma))) return false;
    if (head.position !== messageRecord) {
      conversation.say({ kind: 'frame', ...head, luma });
      return true;
    }
    const message = JSON.parse(Buffer.from(luma!).toString('utf8')) as VideoMessage;
    if (message.kind === 'refused') conversation.refuse(message.stage, message.error);
    else conversation.say(message);
    await conversation.room();
    return true;
  }
}

function memoryOf(create: () => SharedMemory, note: (line: string) => void): SharedMemory | undefined {
  try {
    return create();
  } catch (error) {
    note(
      `Decoders share no memory with this process (${(error as Error).message}): frames go through pipes, more slowly`,
    );
    return undefined;
  }
}

function endOf(code: number | null, signal: string | null, text: string): string {
  const sentence = /^\w*Error: (.*)$/m.exec(text)?.[1];
  return sentence ?? (signal ? `it was ended by ${signal}` : `it exited with ${code}`);
}

/** What the process says if FFmpeg is missing, which holds for every video. */
const missingDecoder = /^MissingDecoderError: (.*)$/m;

/**
 * Signals for a program's own faults, maybe because of the file that it was reading. Other signals come from this
 * machine.
 */
const crashSignals = /\b(SIGSEGV|SIGABRT|SIGBUS|SIGFPE|SIGILL)\b/;

function failureOf(code: number | null, signal: string | null, text: string): Error {
  const missing = missingDecoder.exec(text)?.[1];
  if (missing) return new MissingDecoderError('video', missing);
  const why = endOf(code, signal, text);
  return crashSignals.test(why) ? new DecoderBrokeError(why) : new Error(why);
}

/**
 * A decoding process was ended by a signal for a fault of its own. The video, the machine or the library may be at
 * fault, so this is not an InputError: another attempt, elsewhere, tells more.
 */
export class DecoderBrokeError extends Error {
  constructor(why: string) {
    super(`The decoder broke down: ${why}`);
    this.name = 'DecoderBrokeError';
  }
}

/** A decoding process said nothing for too long and was ended. The video or the machine may be at fault. */
export class DecoderHungError extends Error {
  constructor(hangMs: number) {
    super(`The decoder gave nothing for ${hangMs / 1000} s and was ended`);
    this.name = 'DecoderHungError';
  }
}
