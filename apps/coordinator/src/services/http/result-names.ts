import { resultEntries } from '@halogrid/results/output-entries';

/**
 * The names of a result's folders and of its file, from the part of a path after `results/`. No name leads out of the
 * folder of the results. Undefined if no result can have that name.
 */
export function resultNames(rest: string): string[] | undefined {
  const names = rest.split('/').map(decode);
  return names.every(isName) && resultEntries.includes(names[0]!) ? names : undefined;
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
