/** Needs that a shard may have of a node, as in Lack.need and ShardFailed.need. */

/** The need to read files below a URI. */
export const readNeed = (uri: string): string => `read ${uri}`;

/** The need to write files below a folder URI. */
export const writeNeed = (uri: string): string => `write ${uri}`;

/** The need to decode JPEGs, videos or slides. */
export const decodeNeed = ({ decodes }: { decodes: 'jpeg' | 'video' | 'slide' }): string => `decode ${decodes}`;

/** The need to find times by that version of the time-zone data. */
export const zonesNeed = (version: string): string => `zones ${version}`;

/** A need as a person would say it, after "can" or "cannot". */
export function needInWords(need: string): string {
  const [verb, what = ''] = need.split(/ (.*)/s);
  if (verb === 'zones') return `tell times by the time-zone data ${what}`;
  if (verb === 'decode') return what === 'jpeg' ? 'decode JPEGs' : `decode ${what}s`;
  return `${verb} '${what.startsWith('file:') ? pathIn(what) : what}'`;
}

/** The URI of the host or bucket that a need is to read from; undefined for a need of another kind. */
export const placeOfNeed = (need: string): string | undefined => /^read ((?:https?|s3|gs|az):\/\/.*)$/s.exec(need)?.[1];

/** A host or bucket in words. */
export function placeInWords(place: string): string {
  const [scheme, name = ''] = place.split('://');
  return `${scheme?.startsWith('http') ? 'host' : 'bucket'} '${name}'`;
}

/** The path of a file: URI, decoded for people; the URI itself if its path cannot be decoded. */
export function pathIn(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
