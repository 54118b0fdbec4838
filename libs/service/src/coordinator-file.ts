import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type ListenAddress, parseAddress } from './listen-address.ts';
import { writing } from './system-errors.ts';
import { UsageError } from './usage-error.ts';

/** Where a coordinator serves, for other machines. */
export interface CoordinatorPlace {
  /** A name or an address; an IPv6 address in brackets. */
  host: string;
  /** Ports. */
  grpc: number;
  http: number;
}

/** HOST:PORT of its gRPC. */
export const grpcAddress = ({ host, grpc }: CoordinatorPlace): string => `${host}:${grpc}`;

/** HOST:PORT of its HTTP. */
export const httpAddress = ({ host, http }: CoordinatorPlace): string => `${host}:${http}`;

/** The host of --advertise. Throws UsageError unless it is a name or an address without a port. */
export function parseHost(option: string, text: string): string {
  try {
    return parseAddress(option, `${text}:1`).host;
  } catch {
    throw new UsageError(
      `Expected a name or an address without a port, such as rack-1 or [fd00::1], for ${option} but received '${text}'`,
    );
  }
}

/**
 * The host at which other machines reach a server that listens on `host`: `advertised` if it is given; the name of this
 * machine if the server listens on all addresses.
 */
export function hostForOthers(
  { host }: Pick<ListenAddress, 'host'>,
  advertised?: string,
  machine = hostname(),
): string {
  return advertised ?? (host === '0.0.0.0' || host === '[::]' ? machine : host);
}

const instead = 'another file with --coordinator-file';

const textOf = ({ host, grpc, http }: CoordinatorPlace): string => `${JSON.stringify({ host, grpc, http })}\n`;

/** Writes the file whole, in place of an earlier one. Rejects with one sentence if it cannot be written. */
export async function writeCoordinatorFile(path: string, place: CoordinatorPlace): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writing(path, instead, async () => {
    try {
      await writeFile(temporary, textOf(place), { flag: 'wx' });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

/** Removes the file, unless another coordinator has written it since. Never rejects. */
export async function removeCoordinatorFile(path: string, place: CoordinatorPlace): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === textOf(place)) await rm(path, { force: true }).catch(() => {});
}

/**
 * The place in the file; undefined if the file does not exist or is empty. Rejects with UsageError if it holds
 * something else, or cannot be read.
 */
export async function readCoordinatorFile(path: string): Promise<CoordinatorPlace | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // ESTALE: a file server has replaced the file.
    if (code === 'ENOENT' || code === 'ESTALE') return undefined;
    throw new UsageError(`The file of --coordinator-file cannot be read: ${message}`);
  }
  return text.trim() === '' ? undefined : parsePlace(path, text);
}

function parsePlace(path: string, text: string): CoordinatorPlace {
  try {
    const { host, grpc, http } = JSON.parse(text);
    for (const port of [grpc, http]) if (parseAddress('', `${host}:${port}`).port === 0) throw new Error('Port 0');
    return { host, grpc, http };
  } catch {
    throw new UsageError(
      `Expected the file that 'halogrid coordinator --coordinator-file' writes for --coordinator-file but '${path}' holds something else`,
    );
  }
}
