/** A file to be read. */
export interface AskedFile {
  uri: string;
  /** The version when the job was planned, if known. */
  version?: string | undefined;
}

/** Files on their way to a thread. Posting two strings takes a tenth of the time of posting an object per file. */
export interface AskedFiles {
  /** One URI a line. */
  uris: string;
  /** One version a line; empty if it is not known. */
  versions: string;
}

/**
 * Packs files whose URIs have no line break, as `file:` URIs do. A version with a line break matches no file, and is
 * packed as one that matches none.
 */
export function packFiles(files: readonly AskedFile[]): AskedFiles {
  const versionOf = ({ version = '' }: AskedFile): string => (version.includes('\n') ? 'none' : version);
  return { uris: files.map(({ uri }) => uri).join('\n'), versions: files.map(versionOf).join('\n') };
}

/** The files that `packFiles` packed, at least one. */
export function unpackFiles({ uris, versions }: AskedFiles): AskedFile[] {
  const their = versions.split('\n');
  return uris.split('\n').map((uri, i) => ({ uri, version: their[i] || undefined }));
}
