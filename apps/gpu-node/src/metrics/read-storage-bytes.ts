import { readFileSync } from 'node:fs';

/**
 * Bytes that the system has fetched from disks or network file systems for this process and for those that it waited
 * for, by `read_bytes` of proc_pid_io(5): what it read and the page cache had not. Undefined where the system does not
 * say.
 */
export function readStorageBytes(file = '/proc/self/io'): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const [, bytes] = /^read_bytes: (\d+)$/m.exec(text) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
}
