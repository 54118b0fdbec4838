// Loaded into each process that runs tests, because a process whose tests leave something open would never end.
import { isMainThread } from 'node:worker_threads';
import { goneLimitMs } from '../libs/testing/src/patience.ts';

// Processes and threads that tests start load this file too, and must not be affected.
const { argv, env, execArgv } = process;
const isOfTests = env.NODE_TEST_CONTEXT !== undefined || execArgv.includes('--test-isolation=none');
if (isMainThread && isOfTests && /\.(test|e2e)\.m?[jt]s$/.test(argv[1] ?? '')) {
  const { after } = await import('node:test');
  after(() => {
    const end = () => {
      console.error(`Left open after all tests: ${process.getActiveResourcesInfo().join(', ')}`);
      process.exit(1);
    };
    setTimeout(end, goneLimitMs).unref();
  });
}
