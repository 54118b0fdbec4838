// Loaded into every process of tests; threads of theirs load it too, and are left alone.
import { flushCompileCache } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { goneLimitMs } from '../libs/testing/src/patience.ts';

// Once in a while Node spins for ever where it frees the handles of such a process after its end (in node::Environment::CleanupHandles), so
// a process that is over ends without that. --test-force-exit would do as much, and loses tests: it does not wait for what is printed.
if (isMainThread) {
  const { emit } = process;
  process.emit = function (event, ...args) {
    const wasHeard = emit.call(this, event, ...args);
    if (event === 'exit') {
      flushCompileCache();
      process.reallyExit(process.exitCode);
    }
    return wasHeard;
  };
}

// The process of a test file: one that leaves something open would never end.
if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) {
  const { after } = await import('node:test');
  after(() => {
    setTimeout(() => {
      console.error(`Left open after all tests: ${process.getActiveResourcesInfo().join(', ')}`);
      process.exit(1);
    }, goneLimitMs).unref();
  });
}
