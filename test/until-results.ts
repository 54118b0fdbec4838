// A program of its own, for a mount namespace: until-results.ts OUT ends when the log in that folder says of some
// shards that they are done.
import { eventually } from '@halogrid/testing';
import { hasResults } from './unfinished.ts';

const [out] = process.argv.slice(2) as [string];
await eventually('some shards to be done', () => hasResults(out));
