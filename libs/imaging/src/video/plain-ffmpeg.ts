// Work that FFmpeg does by itself, in processes of its own.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { ClipOrder } from './process/encode-clip.ts';
import type { PlainOrder } from './process/plain-process.ts';

export type { ClipOrder };

const program = fileURLToPath(new URL('./process/plain-process.ts', import.meta.url));

function start(order: PlainOrder) {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exit = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const said = text(child.stderr);
  /** Rejects with its reason if the process fails. */
  const ended = async (): Promise<void> => {
    if ((await exit) === 0) return;
    throw new Error(/^\w*Error: (.*)$/m.exec(await said)?.[1] ?? 'FFmpeg ended early');
  };
  return { child, ended };
}

/** The version that the loaded FFmpeg states. Rejects with the reason if FFmpeg is missing or does not load. */
export async function ffmpegVersion(): Promise<string> {
  const { child, ended } = start({ kind: 'version' });
  const [version] = await Promise.all([text(child.stdout), ended()]);
  return version;
}

/**
 * Makes a recording of frames in planes of YUV 4:2:0, each taken from `frames` when it is its turn. Rejects with
 * FFmpeg's reason.
 */
export async function makeClip(order: ClipOrder, frames: Iterable<Uint8Array>): Promise<void> {
  const { child, ended } = start({ kind: 'clip', order });
  child.stdout.resume();
  // The process may end before it has read all frames.
  await pipeline(frames, child.stdin).catch(() => {});
  await ended();
}

/**
 * Decodes local videos with this package's FFmpeg, keeps no frame, and resolves with their number. It runs that many
 * processes of one thread; each takes the next video when it is done with one. `hwaccel` names a method of FFmpeg's,
 * such as "cuda", to decode in hardware. Rejects with FFmpeg's reason.
 */
export async function decodeByFfmpeg(paths: readonly string[], processes: number, hwaccel = ''): Promise<number> {
  const left = [...paths];
  const counts = await Promise.all(
    Array.from({ length: Math.min(processes, paths.length) }, () => decodeLeft(left, hwaccel)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function decodeLeft(left: string[], hwaccel: string): Promise<number> {
  const { child, ended } = start({ kind: 'null', hwaccel });
  const next = (): void => {
    const path = left.shift();
    if (path === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify(path)}\n`);
  };
  // The process may have ended.
  child.stdin.on('error', () => {});
  let frames = 0;
  next();
  for await (const count of createInterface({ input: child.stdout })) {
    frames += Number(count);
    next();
  }
  await ended();
  return frames;
}
