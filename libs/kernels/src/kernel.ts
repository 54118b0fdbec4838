/** Every parameter of a kernel by name, as text, defaults filled in. */
export type Parameters = Readonly<Record<string, string>>;

/** What the catalogue says of a kernel: enough to plan, check and merge, and nothing of a GPU. */
export interface KernelDefinition {
  readonly name: string;
  /** One sentence for people. */
  readonly summary: string;
  /** Fills in defaults and puts values in canonical form. Throws ParameterError for an unknown name or a wrong value. */
  parseParameters(given: Record<string, string>): Parameters;
  /** Pixels read around a pixel, on each side. */
  halo(parameters: Parameters): number;
  /** Histogram channels, in order. */
  channels(parameters: Parameters): readonly string[];
  /** Bins a channel. */
  bins(parameters: Parameters): number;
  /** The tag that results carry, so that histograms of different conventions are never mixed up. */
  convention(parameters: Parameters): string;
}
