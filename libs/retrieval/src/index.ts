// Searches in the results of jobs, changes, sums of cells and pictures, all made by a separate process.
export { checkCounts } from './check-counts.ts';
export { folderInRoots, indexFolder, type NamedFolders } from './index-folders.ts';
export { picturePath } from './known-frame.ts';
export type { Orders, PngPicture, Searched, SearchNode } from './orders.ts';
export { Retrieval, retrievalLimits } from './retrieval.ts';
