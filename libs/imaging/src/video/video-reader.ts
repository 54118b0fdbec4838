import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { servedFd } from './process/video-bytes.ts';
import type { VideoTask } from './process/video-process.ts';
import { serveRanges } from './serve-ranges.ts';
import type { VideoFile } from './video-file.ts';

const program = fileURLToPath(new URL('./process/video-process.ts', import.meta.url));

/** A process that reads a video. To be ended. */
export interface Reader {
  child: ChildProcess;
  /** Settles when it has ended: with what was wrong, unless it did what it was told. */
  ended: Promise<unknown>;
}

/** Starts a process for a task on a video, and fetches for it what it asks for. */
export function startReader(file: VideoFile, task: VideoTask): Reader {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: envOfReader() });
  let failure: unknown;
  const fail = (error: unknown) => {
    failure = error;
    child.kill('SIGKILL');
  };
  const socket = child.stdio[servedFd] as Duplex;
  // It may end at any time.
  socket.on('error', () => {});
  void serveRanges(socket, file.read, fail);
  let text = '';
  child.stderr!.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-4096);
  });
  const ended = new Promise<unknown>((resolve) => {
    child.on('error', resolve);
    // 'close' comes after the last of the output.
    child.on('close', (code, signal) => {
      resolve(failure ?? (code === 0 ? undefined : failureOf(code, signal, text)));
    });
  });
  // It may end before it has read its order.
  child.stdin!.on('error', () => {}).end(JSON.stringify({ ...task, access: file.access }));
  return { child, ended };
}

/** Ends it, whatever it does. What it had to say and nobody read would keep it from being over: 'close' waits for that. */
export function endReader({ child }: Reader): void {
  child.kill('SIGKILL');
  child.stdout!.destroy();
}

/** A process that reads what anybody may have made is given no key to anything. */
function envOfReader(): NodeJS.ProcessEnv {
  const isSecret = (name: string) => /^(AWS|PG)|TOKEN|LEDGER|SECRET|PASSWORD/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSecret(name)));
}

function endOf(code: number | null, signal: string | null, text: string): string {
  const sentence = /^\w*Error: (.*)$/m.exec(text)?.[1];
  return sentence ?? (signal ? `it was ended by ${signal}` : `it exited with ${code}`);
}

/** What the process says where it has no FFmpeg is so for every video. */
const missingDecoder = /^MissingDecoderError: (.*)$/m;

/** Signals for what a program does itself, maybe because of the file it was reading; others come from this machine. */
const crashSignals = /\b(SIGSEGV|SIGABRT|SIGBUS|SIGFPE|SIGILL)\b/;

function failureOf(code: number | null, signal: string | null, text: string): Error {
  const missing = missingDecoder.exec(text)?.[1];
  if (missing) return new MissingDecoderError('video', missing);
  const why = endOf(code, signal, text);
  return crashSignals.test(why) ? new DecoderBrokeError(why) : new Error(why);
}

/**
 * A process that decodes was ended by a signal that programs get for what they do themselves. The video may be at fault, and so may
 * the machine or the library, so it is no InputError: another attempt, elsewhere, tells more.
 */
export class DecoderBrokeError extends Error {
  constructor(why: string) {
    super(`The decoder broke down: ${why}`);
    this.name = 'DecoderBrokeError';
  }
}
