import { type StatedFacts, statedVersion } from '../stated-version.ts';

/** The input that one row of a manifest names, and what the row states of it. */
export interface ManifestRow {
  /** A path or a URI; if the row has neither, a name for the row. */
  text: string;
  /** Why it is not an input, in one sentence. */
  error?: string;
  facts?: StatedFacts;
  /** The version that the manifest states, as in `sources.jsonl`. */
  version?: string;
}

/** The columns of a manifest with more than names. */
export const manifestColumns = ['path', 'uri', 'size', 'version', 'etag', 'mtime'] as const;

/** Values of the columns, as JSON or Parquet has them. */
export type RowValues = { [Column in (typeof manifestColumns)[number]]?: unknown };

/** A text no longer than this is shown or kept. */
const mostCharacters = 8192;

/** `where` says which row it is, such as "Line 3 of the manifest". A value of null counts as left out. */
export function manifestRow({ path, uri, size, version, etag, mtime }: RowValues, where: string): ManifestRow {
  const text = path ?? uri;
  if (!isText(text) || text === '') return wrong(where, `${where} has neither a path nor a uri`);
  const sizeBytes = typeof size === 'bigint' ? Number(size) : size;
  if (isGiven(sizeBytes) && !(Number.isSafeInteger(sizeBytes) && (sizeBytes as number) >= 0)) {
    return wrong(text, `${where} states the size '${shown(size)}', which is not a number of bytes`);
  }
  const seconds = typeof mtime === 'number' || typeof mtime === 'bigint' ? String(mtime) : mtime;
  if (isGiven(seconds) && !(isText(seconds) && /^-?\d{1,12}(\.\d{1,12})?$/.test(seconds))) {
    return wrong(text, `${where} states the mtime '${shown(mtime)}', which is not a number of seconds since 1970`);
  }
  for (const [name, value] of Object.entries({ version, etag })) {
    if (isGiven(value) && !(isText(value) && /^[^\p{Cc}]+$/u.test(value))) {
      return wrong(text, `${where} states the ${name} '${shown(value)}', which is not a text`);
    }
  }
  return {
    text,
    version: isText(version) ? version : undefined,
    facts: {
      sizeBytes: isGiven(sizeBytes) ? (sizeBytes as number) : undefined,
      mtime: isText(seconds) ? seconds : undefined,
      etag: isText(etag) ? etag : undefined,
    },
  };
}

/** What a Source keeps of a row; undefined if the row states nothing. */
export function rowFacts(
  { facts = {}, version }: ManifestRow,
  isLocal: boolean,
): { sizeBytes: number; version: string; isStated: true } | undefined {
  const stated = version ?? statedVersion(facts, isLocal);
  return stated === undefined ? undefined : { sizeBytes: facts.sizeBytes ?? 0, version: stated, isStated: true };
}

const wrong = (text: string, error: string): ManifestRow => ({ text: text.slice(0, 100), error });
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= mostCharacters;
const shown = (value: unknown): string => String(value).slice(0, 40);
