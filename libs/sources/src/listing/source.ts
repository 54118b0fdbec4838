/** An input before it is opened: it may turn out not to be an image. */
export interface Source {
  uri: string;
  /** Path relative to the folder that was named, or the base name; parts are separated by '/'. */
  name: string;
  /** Encoded bytes; 0 if not known. */
  sizeBytes: number;
  /** Whether it was named itself, and not found in a folder, by a glob or in a manifest. */
  named: boolean;
  /**
   * Changes when the input is written to: size and time of change of a file; ETag, time and size of a file on a server.
   * Undefined if not known.
   */
  version?: string;
  /** Set if the version is from a manifest, and the file was not looked at. */
  isStated?: true;
  /** Set if it is a Zarr: its planes are the inputs (see listPlanes). */
  isStore?: true | undefined;
  /** Why it cannot be an input, in one sentence, if listing has shown that. */
  error?: string;
}
