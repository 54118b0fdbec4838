import type { OpenBytes } from '../files/open-bytes.ts';
import { hasVideoExtension, isCompressedTarName, isParquetName, isTarName } from '../formats.ts';
import { imagesBelow, selectionBelow } from '../globs/selection.ts';
import { InputError } from '../input-error.ts';
import { memberUri } from '../member-uri.ts';
import { SourceNotFoundError } from '../source-errors.ts';
import { openTar } from '../tars/open-tar.ts';
import type { ListingOptions } from './filtered.ts';
import { shownPath } from './shown-path.ts';
import type { Source } from './source.ts';
import { type Member, tarMembers } from './tar-members.ts';

/** Sources that are handed on at once. */
const atOnce = 256;

/**
 * The same inputs in the same order, but in place of a tar its members, as if it were a folder of that name: those with
 * the extension of an image, in natural order. A member that comes twice counts as it is the last time. Links to other
 * members are reported as passed over. Where a tar is damaged or cut off, it is itself the last input, with the reason.
 */
export async function* withMembers(
  chunks: AsyncIterable<Source[]>,
  options: ListingOptions,
): AsyncGenerator<Source[], void, undefined> {
  for await (const sources of chunks) {
    let others: Source[] = [];
    for (const source of sources) {
      if (isTar(source)) {
        if (others.length > 0) yield others;
        others = [];
        yield* membersOf(source, options);
      } else others.push(isCompressedTar(source) ? { ...source, error: compressed } : source);
    }
    if (others.length > 0) yield others;
  }
}

const isTar = ({ name, error }: Source): boolean => error === undefined && isTarName(name);
const isCompressedTar = ({ name, error }: Source): boolean => error === undefined && isCompressedTarName(name);

const compressed = 'A compressed tar is not read: decompress it to a .tar, or unpack it';

async function* membersOf(source: Source, options: ListingOptions): AsyncGenerator<Source[], void, undefined> {
  let tar: OpenBytes | undefined;
  let found: Source[] = [];
  let listed = 0;
  const { select, leftOut } = selector(source, options);
  try {
    tar = await openTar(source.uri);
    for await (const members of tarMembers(tar, options.isSorted ?? true)) {
      for (const member of members) if (select(member)) found.push(sourceOf(source, member, tar.version));
      if (found.length < atOnce) continue;
      listed += found.length;
      yield found;
      found = [];
    }
  } catch (error) {
    if (!(error instanceof InputError) || error.fault === 'away') throw error;
    found.push({ ...source, named: false, error: error.message });
  } finally {
    await tar?.close();
  }
  if (found.length > 0) yield found;
  if (listed + found.length > 0) return;
  if (!source.named) options.onPassedOver?.({ path: shownPath(source.uri), isFolder: false });
  else if (leftOut() === 0) throw new SourceNotFoundError(`The tar '${shownPath(source.uri)}' holds no images`);
}

/** Decides which members are inputs, and reports the others; `leftOut`: how many the filter alone has left out. */
function selector(source: Source, { filter, onPassedOver }: ListingOptions) {
  const root = shownPath(source.uri);
  // The filter sees a path from the folder on that the job names, which may be the tar itself.
  const inFilter = source.named ? '' : `${source.name}/`;
  let leftOut = 0;
  let lastFolder = '';
  const select = ({ name, kind }: Member): boolean => {
    const folders = name.split('/');
    const file = folders.pop()!;
    const path = `${root}/${name}`;
    const outside = folders.findIndex((_, i) => !selectionBelow(imagesBelow, folders.slice(0, i + 1)));
    if (outside >= 0) {
      const folder = folders.slice(0, outside + 1).join('/');
      if (folder !== lastFolder) onPassedOver?.({ path: `${root}/${folder}`, isFolder: true });
      lastFolder = folder;
      return false;
    }
    const isSelected = imagesBelow.takes(file) && kind !== 'link' && !isParquetName(file);
    if (isSelected && filter?.takes(inFilter + name) === false) {
      leftOut++;
      onPassedOver?.({ path, isFolder: false, isFiltered: true });
      return false;
    }
    if (!isSelected) onPassedOver?.({ path, isFolder: false });
    return isSelected;
  };
  return { select, leftOut: () => leftOut };
}

function sourceOf(tar: Source, member: Member, version: string | undefined): Source {
  const { name, start, length } = member;
  const uri = memberUri(tar.uri, { name, start, length });
  const error = whyNotRead(member);
  return {
    uri,
    name: tar.named ? name : `${tar.name}/${name}`,
    sizeBytes: length,
    named: false,
    ...(tar.isStated ? { version: tar.version!, isStated: true as const } : version !== undefined && { version }),
    ...(error !== undefined && { error }),
  };
}

function whyNotRead({ name, length, kind }: Member): string | undefined {
  if (kind === 'misnamed') return 'Its name in the tar is not UTF-8: unpack the tar and rename it';
  if (kind === 'sparse') return 'A sparse member of a tar is not read: unpack the tar';
  if (hasVideoExtension(name)) return 'A recording in a tar is not read: unpack the tar';
  if (isTarName(name) || isCompressedTarName(name)) return 'A tar in a tar is not read: unpack the outer one';
  return length === 0 ? 'The file is empty (0 bytes)' : undefined;
}
