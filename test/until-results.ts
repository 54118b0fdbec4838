// Runs as a separate program in a mount namespace: until-results.ts OUT ends when the log in that folder has done
// shards.
import { eventually } from '@halogrid/testing';
import { hasResults } from './unfinished.ts';

const [out] = process.argv.slice(2) as [string];
await eventually('some shards to be done', () => hasResults(out));
