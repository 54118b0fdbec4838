/**
 * Options of Node with which V8 accounts for memory outside of its heap in the limit of the whole heap, and does not
 * collect garbage to get it back. None for Node 22, which does not know them and would not start.
 */
export const collectorFlags: readonly string[] =
  Number.parseInt(process.versions.node, 10) >= 24 ? ['--external-memory-accounted-in-global-limit'] : [];
