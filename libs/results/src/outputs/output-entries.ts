import { isLeftOver } from '../folder/claim-file.ts';
import { dziScriptName } from '../maps/dzi-page.ts';
import { mapExtensions } from '../maps/map-format.ts';
import { listNames } from '../sources/source-line.ts';

/** Everything that a job writes into its folder, besides job.json. */
export const outputEntries: readonly string[] = [
  'histogram.json',
  'histogram.svg',
  'features.parquet',
  'errors.jsonl',
  ...Object.values(listNames),
  'preview',
  'maps',
  'pipelines',
  '.halogrid',
];

/** Files and folders of results, once a job is complete. */
export const resultEntries: readonly string[] = ['job.json', ...outputEntries.filter((entry) => entry !== '.halogrid')];

/** The job.json of an output that is being removed. While it is there, no job can take the folder. */
export const removedName = '.removed.json';

const mapEndings = [...Object.values(mapExtensions), '_files'];
const mapPages = ['index.html', dziScriptName];

/** Which names a job gives in each of its folders; folders without an entry have any name. */
const namesIn: Readonly<Record<string, (name: string) => boolean>> = {
  maps: (name) => mapEndings.some((ending) => name.endsWith(ending)) || mapPages.includes(name),
  preview: (name) => /\.(png|jpg)$/.test(name),
  'features.parquet': (name) => name.endsWith('.parquet'),
};

/**
 * Whether a job writes a file or folder with that path in its output folder. Paths have `/`. What else is in the folder
 * came from somebody else.
 */
export function isOwnPath(path: string): boolean {
  const [first = '', ...rest] = path.split('/');
  if (first === 'pipelines') {
    const [, ...inside] = rest;
    return (
      inside.length === 0 || (inside[0] !== 'pipelines' && inside[0] !== '.halogrid' && isOwnPath(inside.join('/')))
    );
  }
  const isOwn = first === 'job.json' || first === removedName || outputEntries.includes(first) || isLeftOver(first);
  return isOwn && (rest.length === 0 || (namesIn[first]?.(rest[0]!) ?? true));
}
