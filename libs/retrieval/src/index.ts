// Searches, changes, sums of cells and pictures of what jobs found, by a process of their own.
export { checkCounts } from './check-counts.ts';
export { folderInRoots, indexFolder, type NamedFolders } from './index-folders.ts';
export { picturePath } from './known-frame.ts';
export type { Orders, PngPicture, Searched, SearchNode } from './orders.ts';
export { Retrieval, retrievalLimits } from './retrieval.ts';
