/**
 * Options of Node that make V8 count memory outside of its heap towards the limit of the whole heap, and not collect
 * garbage to get it back. None for Node 22, which does not know them and would not start.
 */
export const collectorFlags: readonly string[] =
  Number.parseInt(process.versions.node, 10) >= 24 ? ['--external-memory-accounted-in-global-limit'] : [];
