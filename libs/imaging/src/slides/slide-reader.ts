import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { InputError } from '@halogrid/sources';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { readerEnv } from '../reader-env.ts';
import { ByteStream } from '../video/byte-stream.ts';
import { hangMs, type SlideAnswer, type SlideOrder } from './process/slide-protocol.ts';

const program = fileURLToPath(new URL('./process/slide-process.ts', import.meta.url));

/** How often a process is looked at before it is ended, if it says nothing. */
const looks = 12;

/** Signals for a program's own faults. Others come from this machine, as when no memory is left. */
const crashSignals = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL'];

/** A process that reads slides broke down over its order. */
export class SlideCrashError extends Error {
  constructor(signal: string) {
    super(`OpenSlide broke down over the slide (${signal})`);
    this.name = 'SlideCrashError';
  }
}

/**
 * A process that reads slides, one order after another. It keeps this process alive only while it has an order, and
 * must be ended.
 */
export class SlideReader {
  readonly #child: ChildProcess;
  readonly #bytes: ByteStream;
  readonly #ended: Promise<Error>;
  #hung: Error | undefined;

  constructor() {
    // In a process group of its own: Ctrl-C then reaches only the program that started it, which ends it in order.
    const options = { stdio: ['pipe', 'pipe', 'ignore'], env: readerEnv(), detached: true } as const;
    this.#child = spawn(process.execPath, [program], { ...options, stdio: [...options.stdio] });
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', resolve).on('close', (code, signal) => {
        const isCrash = signal !== null && crashSignals.includes(signal);
        const how = signal ? `was ended by ${signal}` : `exited with ${code}`;
        resolve(this.#hung ?? (isCrash ? new SlideCrashError(signal) : new Error(`The reader of slides ${how}`)));
      });
    });
    // The process may end at any time.
    this.#child.stdin!.on('error', () => {});
    this.#bytes = new ByteStream(this.#child.stdout!);
    this.#hold('unref');
  }

  /** The number of the process. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Rejects with InputError, MissingDecoderError, SlideCrashError, or another error of this machine. */
  async order(order: SlideOrder): Promise<{ answer: SlideAnswer; bytes: Uint8Array }> {
    this.#hold('ref');
    const watch = this.#watch();
    try {
      this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
      const head = Buffer.alloc(4);
      await this.#fill(head);
      const text = Buffer.alloc(head.readUInt32LE());
      await this.#fill(text);
      const answer = JSON.parse(text.toString()) as SlideAnswer;
      if (answer.kind === 'refused') throw new InputError('decode', answer.error);
      if (answer.kind === 'missing') throw new MissingDecoderError('slide', answer.error);
      const bytes = new Uint8Array(answer.kind === 'pixels' ? answer.bytes : 0);
      await this.#fill(bytes);
      return { answer, bytes };
    } finally {
      clearInterval(watch);
      this.#hold('unref');
    }
  }

  /** Ends the process, even if it is at work. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    this.#child.stdout!.destroy();
    await this.#ended;
  }

  async #fill(target: Uint8Array): Promise<void> {
    if (!(await this.#bytes.fill(target))) throw await this.#ended;
  }

  /** Ends a process that hangs. It counts looks, not time, in case the whole machine stands still. */
  #watch(): NodeJS.Timeout {
    let silent = 0;
    return setInterval(() => {
      if (++silent < looks) return;
      this.#hung = new InputError('read', `OpenSlide gave nothing for ${hangMs / 1000} s and was ended`);
      this.#child.kill('SIGKILL');
    }, hangMs / looks);
  }

  #hold(how: 'ref' | 'unref'): void {
    for (const one of [this.#child, this.#child.stdin as Socket, this.#child.stdout as Socket]) one[how]();
  }
}
