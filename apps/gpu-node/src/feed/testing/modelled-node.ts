import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeDevice } from '../../devices/device.ts';
import type { DecodeChoice } from '../decode-choice.ts';
import type { Decoder } from '../earliest-finish.ts';
import { JpegFeed } from '../jpeg-feed.ts';

/** A machine on a virtual clock. Each decoder does one piece of work after another. */
export interface ModelledMachine {
  /** Frames a second of the device, while cores do not decode. */
  device: number;
  /** Frames a second of cores. */
  cores: number;
  /** The share of its rate that the device loses while cores decode, in [0, 1). */
  drag: number;
  /** Seconds until the device is ready. */
  compileSeconds: number;
}

/** Frames per piece of work (each of one byte), and the pieces that a node has at once. */
const framesAPiece = 64;
const piecesAtOnce = 16;

interface Piece {
  left: number;
  end: () => void;
}

/** The virtual seconds in which a node on this machine decodes `frames` frames. */
export async function secondsOf(machine: ModelledMachine, choice: DecodeChoice, frames: number): Promise<number> {
  let nowMs = 0;
  const queues: Record<Decoder, Piece[]> = { device: [], cores: [] };
  const compiled = Promise.withResolvers<void>();
  const unused = () => {
    throw new Error('A model neither reads nor computes');
  };
  const jpegs = { maxBytes: 1, batchBytes: 1, prepare: () => compiled.promise, decode: unused };
  const device: NodeDevice = {
    info: { kind: 'gpu', name: 'model', driver: '' },
    maxStagingBytes: 1,
    batchBytes: 1,
    batchesInFlight: 1,
    jpegs,
    acquire: unused,
    run: unused,
    lost: new Promise(() => {}),
    close: unused,
  };
  const feed = new JpegFeed({
    choice,
    device,
    channels: 'gray',
    threads: { read: unused },
    coresAtOnce: 4,
    nowMs: () => nowMs,
    note: unused,
    readRate: async () => undefined,
    keepRate: async () => {},
  });
  const rateOf = (decoder: Decoder): number => {
    if (decoder === 'cores') return machine.cores;
    if (nowMs < 1000 * machine.compileSeconds) return 0;
    return machine.device * (queues.cores.length > 0 ? 1 - machine.drag : 1);
  };
  const work = (decoder: Decoder) => async () => {
    await new Promise<void>((end) => queues[decoder].push({ left: framesAPiece, end }));
    // The device measures by its own clock, which does not count waiting for other work.
    return { done: framesAPiece, seconds: decoder === 'device' ? framesAPiece / machine.device : undefined };
  };
  let begun = 0;
  let running = 0;
  const next = (): void => {
    while (begun * framesAPiece < frames && running < piecesAtOnce) {
      begun++;
      running++;
      void feed.decode(framesAPiece, framesAPiece, { device: work('device'), cores: work('cores') }).then(() => {
        running--;
        next();
      });
    }
  };
  next();
  while (running > 0) {
    if (nowMs >= 1000 * machine.compileSeconds) compiled.resolve();
    await nextTurn();
    const heads = (['device', 'cores'] as const).flatMap((decoder) => {
      const [piece] = queues[decoder];
      return piece ? [{ decoder, piece, rate: rateOf(decoder) }] : [];
    });
    const untilReadyMs = 1000 * machine.compileSeconds - nowMs;
    const endsMs = heads.map(({ piece, rate }) => (rate > 0 ? (1000 * piece.left) / rate : Number.POSITIVE_INFINITY));
    const passMs = Math.min(...endsMs, untilReadyMs > 0 ? untilReadyMs : Number.POSITIVE_INFINITY);
    if (passMs === Number.POSITIVE_INFINITY) continue;
    nowMs += passMs;
    for (const [i, { decoder, piece, rate }] of heads.entries()) {
      piece.left -= (rate * passMs) / 1000;
      if (endsMs[i] === passMs) queues[decoder].shift()!.end();
    }
  }
  return nowMs / 1000;
}
