import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** SHA-256 as lower-case hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

// biome-ignore lint/suspicious/noExplicitAny: only the test that reads a file knows its contents.
export function readJson(...path: string[]): any {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}

/** histogram.json in an output folder. */
export function readChannels(out: string): { counted: number; channels: { name: string; bins: number[] }[] } {
  return readJson(out, 'histogram.json');
}

/** The counts of histogram.json in an output folder, which must have exactly one channel. */
export function readHistogram(out: string): { counted: number; bins: number[] } {
  const { counted, channels } = readChannels(out);
  if (channels.length !== 1) throw new Error(`Expected one channel but found ${channels.length}`);
  return { counted, bins: channels[0]!.bins };
}

/** The lines of errors.jsonl in an output folder. */
export function readErrors(
  out: string,
): { uri: string; frame: number; stage: string; error: string; attempts: number }[] {
  const lines = readFileSync(join(out, 'errors.jsonl'), 'utf8').split('\n');
  if (lines.pop() !== '') throw new Error('errors.jsonl does not end with a line feed');
  return lines.map((line) => JSON.parse(line));
}

/** SHA-256 of every file in a folder and its subfolders, by its path in the folder. */
export function hashFiles(...folder: string[]): Record<string, string> {
  const path = join(...folder);
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((file) => relative(path, join(file.parentPath, file.name))).sort();
  return Object.fromEntries(names.map((name) => [name, sha256(readFileSync(join(path, name)))]));
}
