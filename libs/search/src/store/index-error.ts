/** A fault of an index or of a request to it, in one sentence for people. */
export class IndexError extends Error {}
