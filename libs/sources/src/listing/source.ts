/** An input before it is opened: it may yet turn out to be no image. */
export interface Source {
  uri: string;
  /** Path relative to the folder that was named, or the base name; parts are separated by '/'. */
  name: string;
  /** Encoded; 0 where it is not known. */
  sizeBytes: number;
  /** Named itself, rather than found in a folder, by a glob or in a manifest. */
  named: boolean;
  /**
   * Changes when the input is written to: size and time of change of a file, ETag, time and size of what is on a
   * server. Undefined where nobody can tell.
   */
  version?: string;
  /** The version is what a manifest states, and nobody has looked. */
  isStated?: true;
  /** Why it cannot be an input, in one sentence, where listing it has shown that. */
  error?: string;
}
