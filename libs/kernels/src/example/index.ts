// The kernel of docs/extend.md. No catalogue has it: tests add it to theirs.
export { type RankSettings, rank, rankReference, ranksOf } from './rank.ts';
export { rankOnGpu } from './rank-gpu.ts';
