import { BucketPrefix } from '../buckets/bucket-prefix.ts';
import { toPrefixUri } from '../buckets/prefix-uri.ts';
import { matchesName, type NamePattern, parseName } from '../globs/match-name.ts';
import { SourceUriError } from '../source-errors.ts';

/** Whether an s3: URI stands for the folders whose names match it. A shell cannot know what a bucket has. */
const isGlob = (uri: string): boolean => /[*?]/.test(uri);

/**
 * The folders of a bucket that an s3: URI stands for, in the order of their names: `s3://bucket/part-*`; without `*`
 * and `?` the URI itself. Throws SourceUriError if there is none; rejects as `send` does.
 */
export async function expandPrefix(uri: string): Promise<string[]> {
  const glob = toPrefixUri(uri);
  if (!isGlob(glob)) return [glob];
  const [bucket = '', ...names] = glob.slice('s3://'.length).split('/');
  const found = await Array.fromAsync(foldersBelow(`s3://${bucket}`, names.map(patternOf)));
  if (found.length === 0) throw new SourceUriError(`No folder of the bucket matches '${glob}'`);
  return found.sort();
}

function patternOf(text: string): NamePattern {
  try {
    return isGlob(text) ? parseName(text) : { literal: text };
  } catch (error) {
    throw new SourceUriError(`'${text}' is not a pattern of names: ${(error as Error).message}`);
  }
}

async function* foldersBelow(uri: string, [pattern, ...rest]: readonly NamePattern[]): AsyncGenerator<string> {
  if (!pattern) yield uri;
  else if ('literal' in pattern) yield* foldersBelow(`${uri}/${pattern.literal}`, rest);
  else {
    for await (const name of new BucketPrefix(uri).listLevel()) {
      const own = name.slice(0, -1);
      if (name.endsWith('/') && own !== '' && matchesName(pattern, own)) yield* foldersBelow(`${uri}/${own}`, rest);
    }
  }
}
