import { resultEntries } from '../output/output-folder.ts';

/** What a path below /api/v1/jobs/ID/results asks for. */
export type ResultsRequest =
  | { kind: 'list'; jobId: string }
  /** A file, by the names of its folders and its own, of which none leads elsewhere. */
  | { kind: 'file'; jobId: string; names: string[] }
  /** No result can have that name. */
  | { kind: 'none'; jobId: string };

/** Undefined for a path that does not ask for results. */
export function parseResultsPath(path: string): ResultsRequest | undefined {
  const [, id, rest] = /^\/api\/v1\/jobs\/([^/]+)\/results(?:\/(.*))?$/s.exec(path) ?? [];
  if (id === undefined) return undefined;
  const jobId = decode(id);
  if (jobId === undefined) return undefined;
  if (!rest) return { kind: 'list', jobId };
  const names = rest.split('/').map(decode);
  if (!names.every(isName) || !resultEntries.includes(names[0]!)) return { kind: 'none', jobId };
  return { kind: 'file', jobId, names };
}

/** One name of a file or folder, here and on systems that separate by backslashes. */
const isName = (text: string | undefined): text is string =>
  text !== undefined && text !== '' && text !== '.' && text !== '..' && !/[/\\\0]/.test(text);

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
