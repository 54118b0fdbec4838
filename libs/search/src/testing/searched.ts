import { isThorough } from '@halogrid/testing';

/**
 * Frames and queries of tests that compare searches with a plain loop. HALOGRID_SEARCH_ROWS asks for more: 100,000
 * frames and 100 queries take ten minutes on four cores with a software GPU.
 */
export const searchedRows = Number(process.env.HALOGRID_SEARCH_ROWS ?? (isThorough ? 5_000 : 1_500));
export const searchedQueries = Math.min(100, Math.max(6, Math.floor(searchedRows / 1000)));
