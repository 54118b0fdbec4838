import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseBusId, parseUuid } from './nvidia-gpu.ts';

/** What nvidia-smi says of memory in use, in MiB; undefined where it does not know. */
export interface SmiReading {
  gpus: { busId: string; uuid: string | undefined; usedMiB: number | undefined }[];
  processes: { pid: number; uuid: string; usedMiB: number | undefined }[];
}

const cardFields = 'pci.bus_id,uuid,memory.used';
const processFields = 'pid,gpu_uuid,used_memory';

/** It takes a second a card where no process keeps the driver awake. */
const answerWithinMs = 30_000;

/** Asks nvidia-smi; undefined where it is not installed or does not answer. */
export async function readSmi(): Promise<SmiReading | undefined> {
  const ask = (query: string) =>
    promisify(execFile)('nvidia-smi', [query, '--format=csv,noheader,nounits'], { timeout: answerWithinMs });
  try {
    const [cards, processes] = await Promise.all([
      ask(`--query-gpu=${cardFields}`),
      ask(`--query-compute-apps=${processFields}`),
    ]);
    return { gpus: parseCards(cards.stdout), processes: parseProcesses(processes.stdout) };
  } catch {
    return undefined;
  }
}

/** Rows of `cardFields`. Lines that are none, as warnings of the driver, are passed over. */
export function parseCards(text: string): SmiReading['gpus'] {
  return cells(text).flatMap(([bus = '', uuid = '', used = '']) => {
    const busId = parseBusId(bus);
    return busId ? [{ busId, uuid: parseUuid(uuid), usedMiB: mebibytes(used) }] : [];
  });
}

/** Rows of `processFields`. */
export function parseProcesses(text: string): SmiReading['processes'] {
  return cells(text).flatMap(([pid = '', card = '', used = '']) => {
    const uuid = parseUuid(card);
    return /^\d+$/.test(pid) && uuid ? [{ pid: Number(pid), uuid, usedMiB: mebibytes(used) }] : [];
  });
}

const cells = (text: string): string[][] => text.split('\n').map((line) => line.split(',').map((cell) => cell.trim()));

/** "[N/A]" and the like are no number. */
const mebibytes = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);
