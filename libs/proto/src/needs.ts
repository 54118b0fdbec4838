/** What shards may need of a node, as Lack.need and ShardFailed.need name it. */

/** Files below that URI are read. */
export const readNeed = (uri: string): string => `read ${uri}`;

/** Files are written below that folder URI. */
export const writeNeed = (uri: string): string => `write ${uri}`;

/** What is packed that way is decoded. */
export const decodeNeed = ({ decodes }: { decodes: 'jpeg' | 'video' }): string => `decode ${decodes}`;

/** Times of a zone are told by that version of the data of time zones. */
export const zonesNeed = (version: string): string => `zones ${version}`;

/** A need as a person would say it, after "can" or "cannot". */
export function needInWords(need: string): string {
  const [verb, what = ''] = need.split(/ (.*)/s);
  if (verb === 'zones') return `tell times by the time-zone data ${what}`;
  if (verb === 'decode') return what === 'jpeg' ? 'decode JPEGs' : 'decode videos';
  return `${verb} '${what.startsWith('file:') ? pathIn(what) : what}'`;
}

/** The URI of the host or bucket from which a need is to read; undefined for a need of another kind. */
export const placeOfNeed = (need: string): string | undefined => /^read ((?:https?|s3):\/\/.*)$/s.exec(need)?.[1];

/** A host or bucket in words. */
export function placeInWords(place: string): string {
  const [scheme, name = ''] = place.split('://');
  return `${scheme === 's3' ? 'bucket' : 'host'} '${name}'`;
}

/** The path of a file: URI, as a person writes it; the URI itself where it has none that can be read. */
export function pathIn(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
