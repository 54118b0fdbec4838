/** What is wrong with an index or with what is asked of it, in one sentence for people. */
export class IndexError extends Error {}
