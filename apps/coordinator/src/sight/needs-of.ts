import type { Shard } from '@halogrid/jobs/shard';
import { decodeNeed, type JobSpec, readNeed, writeNeed, zonesNeed } from '@halogrid/proto';
import { formatOfName } from '@halogrid/sources';
import { isNamedZone } from '@halogrid/sources/captured';

/** The parts of a specification that needs depend on. */
type Asked = Pick<JobSpec, 'sources' | 'mapFormat' | 'captured'>;

type Decodes = 'video' | 'jpeg' | 'slide' | undefined;

/**
 * The most folders, and the most hosts and buckets, of a job that nodes must show they can read. Whether a node can
 * read further ones shows only when it fails.
 */
const maxFolders = 32;
const maxHosts = 1024;

/**
 * What the shards of a job need from a node: to read below a root; to write parts, maps and previews; to decode JPEGs,
 * videos or slides; to know time zones as the coordinator does. A root is a folder that the job names, the folder of a
 * file that it or a manifest names, or a host or bucket. Shards with the same needs get the same array; kept shards
 * need nothing.
 */
export function needsOfJob(
  { sources, mapFormat, captured }: Asked,
  scratch: string,
): (shard: Shard) => readonly string[] {
  const named = new Set(sources.map(folderOf));
  const folders = new Map<string, string>();
  const hosts = new Map<string, string>();
  const known = new Map<string, readonly string[]>();
  const zones = captured && isNamedZone(captured.zone) ? zonesNeed(process.versions.tz!) : undefined;
  const rootOf = (uri: string): string | undefined => {
    const root = rootBelow(uri, named);
    const [roots, most] = root.startsWith('file:') ? [folders, maxFolders] : [hosts, maxHosts];
    if (!roots.has(root) && roots.size < most) roots.set(root, readNeed(root));
    return roots.get(root);
  };
  const needsOf = (places: Iterable<string>, writes: boolean, decodes: Decodes): readonly string[] => {
    const needs = new Set<string>();
    for (const folder of places) {
      const root = rootOf(folder);
      if (root) needs.add(root);
    }
    if (writes) needs.add(writeNeed(scratch));
    if (decodes) needs.add(decodeNeed({ decodes }));
    if (zones) needs.add(zones);
    const key = [...needs].join('\n');
    const same = known.get(key) ?? [...needs];
    known.set(key, same);
    return same;
  };
  return ({ work }) => {
    if (work.kind === 'kept') return [];
    const { uri, folders, hasPreviews } = work.sources;
    const isVideo = work.kind === 'frames' && work.segment !== undefined;
    return needsOf(folders, work.kind === 'frames' || mapFormat !== 'none' || hasPreviews, decoderOf(uri, isVideo));
  };
}

/**
 * The folder that a source names, or that its pattern begins with. For the URI of an image, the result is not a folder
 * and matches nothing.
 */
function folderOf(source: string): string {
  const pattern = source.search(/[*?[{]/);
  const fixed = pattern < 0 || !source.startsWith('file:') ? source : source.slice(0, source.lastIndexOf('/', pattern));
  return fixed.replace(/\/+$/, '');
}

/**
 * The innermost named folder that holds `folder`; if there is none, `folder` itself. On a server, its host or bucket.
 */
function rootBelow(folder: string, named: ReadonlySet<string>): string {
  if (!folder.startsWith('file:')) return /^[^:]+:\/\/[^/]*/.exec(folder)?.[0] ?? folder;
  for (let at = folder; at.length > 'file://'.length; at = parentOf(at)) if (named.has(at)) return at;
  return folder;
}

const parentOf = (uri: string): string => uri.slice(0, Math.max(0, uri.lastIndexOf('/')));

function decoderOf(first: string, isVideo: boolean): Decodes {
  if (isVideo) return 'video';
  const format = formatOfName(first);
  return format === 'jpeg' || format === 'slide' ? format : undefined;
}
