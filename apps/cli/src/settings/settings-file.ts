import { readFileSync, type Stats, statSync } from 'node:fs';
import { UsageError } from '@halogrid/service/usage-error';

/** A table of TOML: values and further tables by name. */
export type Table = { readonly [key: string]: unknown };

/** A halogrid.toml. */
export interface SettingsFile {
  readonly path: string;
  /** Whose file it is: one in the working folder may come from anyone. */
  readonly owner: 'folder' | 'user';
  readonly root: Table;
  readonly text: string;
}

/** More than anyone writes. A file that is found by chance may be anything. */
const maxBytes = 262_144;

/** The file; undefined if it does not exist. Rejects with UsageError if it cannot be read, or is not TOML. */
export async function readSettingsFile(path: string, owner: SettingsFile['owner']): Promise<SettingsFile | undefined> {
  const text = textOf(path);
  if (text === undefined) return undefined;
  // Imported late, because most users have no file.
  const { parse, TomlError } = await import('smol-toml');
  try {
    return { path, owner, root: parse(text), text };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const why = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw new UsageError(`${path}:${error.line}: Expected TOML but found: ${why}${inQuotes(text, error.line)}`);
  }
}

/** A clause that shows the line with quotes, if its value is a text without them; empty for other lines. */
function inQuotes(text: string, line: number): string {
  const [, key, value] =
    /^\s*([\w-]+)\s*=\s*([^\s"'[{#][^"'#]*?)\s*(?:#.*)?$/.exec(text.split('\n')[line - 1] ?? '') ?? [];
  return value === undefined ? '' : `; put a text in quotes: ${key} = "${value}"`;
}

function textOf(path: string): string | undefined {
  const found = look(path);
  if (!found) return undefined;
  if (!found.isFile()) throw new UsageError(`${path}: Expected a file of settings but found something else`);
  if (found.size > maxBytes) {
    throw new UsageError(`${path}: Expected at most ${maxBytes} bytes of settings but found ${found.size}`);
  }
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path}: The settings cannot be read: ${(error as Error).message}`);
  }
}

/** The state of a file; undefined if it does not exist, or if its folder is closed to this user. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The place of a key, as `halogrid.toml:12`; without the number if the key is not on a line of its own. */
export function keyPlace({ path, text }: SettingsFile, section: readonly string[], key: string): string {
  const wanted = section.join('.');
  const plain = (name: string): string => name.replaceAll(/["'\s]/g, '');
  let table = '';
  for (const [i, line] of text.split('\n').entries()) {
    const header = /^\s*\[([^[\]]+)\]/.exec(line)?.[1];
    if (header !== undefined) table = plain(header);
    else if (table === wanted && plain(/^\s*([\w"'-]+)\s*=/.exec(line)?.[1] ?? '') === key) return `${path}:${i + 1}`;
  }
  return path;
}
