import { resultEntries } from '../../output/output-folder.ts';

/**
 * A file of a job by what a path has behind `results/`: the names of its folders and its own, none of which leads
 * elsewhere. Undefined where no result can have that name.
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
