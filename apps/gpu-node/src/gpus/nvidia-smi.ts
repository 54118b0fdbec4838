import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseBusId, parseUuid } from './nvidia-gpu.ts';

/** Memory in use according to nvidia-smi, in MiB; undefined if it does not know. */
export interface SmiReading {
  gpus: { busId: string; uuid: string | undefined; usedMiB: number | undefined }[];
  processes: { pid: number; uuid: string; usedMiB: number | undefined }[];
}

const cardFields = 'pci.bus_id,uuid,memory.used';
const processFields = 'pid,gpu_uuid,used_memory';

/** nvidia-smi takes a second per card if no process keeps the driver awake. */
const answerWithinMs = 30_000;

/** Asks nvidia-smi; undefined if it is not installed or does not answer. */
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

/** Rows of `cardFields`. Other lines, such as warnings of the driver, are skipped. */
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

/** Undefined for "[N/A]" and other text that is not a number. */
const mebibytes = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);
