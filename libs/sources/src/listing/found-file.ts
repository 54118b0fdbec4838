/** What is found in a folder, on disk or in a bucket. */
export interface FoundFile {
  /** Path relative to the folder, separated by '/'. */
  name: string;
  /** 0 if it is not known. */
  sizeBytes: number;
  /** See Source. */
  version?: string;
  /**
   * Why it is not an input, in one sentence: a folder that cannot be listed, or a symbolic link that leads in a circle.
   */
  error?: string;
  /** Only if the name does not tell it. */
  uri?: string;
  /** Set for a folder that is a Zarr, which is not walked. */
  isStore?: true;
}
