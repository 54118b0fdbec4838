/** Facts that tell whether a file on a server is still the same. */
export interface FileVersion {
  etag: string | undefined;
  lastModified: string | undefined;
  /** Undefined if an answer does not tell. */
  sizeBytes: number | undefined;
}

/** A name for a version. */
export const versionName = ({ etag, lastModified, sizeBytes }: FileVersion): string =>
  [etag, lastModified, sizeBytes].filter((part) => part !== undefined).join(' ');

/** The same; undefined if the server tells only the size, and nothing else that changes with the content. */
export const surelyVersionName = (version: FileVersion): string | undefined =>
  version.etag || version.lastModified ? versionName(version) : undefined;
