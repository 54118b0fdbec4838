/** What tells that a file on a server is still the same. */
export interface FileVersion {
  etag: string | undefined;
  lastModified: string | undefined;
  /** Undefined where an answer does not tell. */
  sizeBytes: number | undefined;
}

/** A name for a version. */
export const versionName = ({ etag, lastModified, sizeBytes }: FileVersion): string =>
  [etag, lastModified, sizeBytes].filter((part) => part !== undefined).join(' ');

/** The same; undefined where the server tells nothing that changes with the content but the size. */
export const surelyVersionName = (version: FileVersion): string | undefined =>
  version.etag || version.lastModified ? versionName(version) : undefined;
