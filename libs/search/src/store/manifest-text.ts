import { createHash } from 'node:crypto';
import { isSoundManifest } from './check-manifest.ts';
import { IndexError } from './index-error.ts';
import type { Manifest } from './manifest.ts';

const format = 'halogrid-index';
/** Rises when the meaning of the files changes. */
const version = 1;

/** The text of manifest.json. */
export function manifestText(manifest: Manifest): string {
  const content = { format, version, ...manifest };
  return `${JSON.stringify({ ...content, sha256: hashOf(content) }, null, 1)}\n`;
}

/** Reads a manifest.json. Throws IndexError with one sentence that names `path`. */
export function parseManifest(text: string, path: string): Manifest {
  let written: Manifest & { format?: unknown; version?: unknown; sha256?: unknown };
  try {
    written = JSON.parse(text);
  } catch (cause) {
    throw new IndexError(`'${path}' is damaged: it is not JSON`, { cause });
  }
  if (written?.format !== format) throw new IndexError(`'${path}' is not the manifest of an index`);
  if (written.version !== version) {
    throw new IndexError(`'${path}' is of format ${written.version}, and this halogrid knows format ${version} alone`);
  }
  const { sha256, ...content } = written;
  if (sha256 !== hashOf(content))
    throw new IndexError(`'${path}' has changed since it was written: make the index again`);
  if (!isSoundManifest(content))
    throw new IndexError(`'${path}' has values that no index can have: make the index again`);
  if (!content.segments.every(({ name }) => namePattern.test(name)))
    throw new IndexError(`'${path}' names files of its own`);
  return { pipeline: content.pipeline, segments: content.segments, nextSegment: content.nextSegment };
}

const hashOf = (content: object): string => createHash('sha256').update(JSON.stringify(content)).digest('hex');

/** The form of names from segmentName: no path leads out of the folder. */
const namePattern = /^segment-\d{6,15}$/;
