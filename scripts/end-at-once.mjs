// Loaded into every process of tests. Once in a while Node spins for ever where it frees the handles of such a process after its end (in
// node::Environment::CleanupHandles), so a process that is over ends without that. All that it printed was written by then, which
// --test-force-exit does not wait for: that loses tests.
import { flushCompileCache } from 'node:module';

const { emit } = process;
process.emit = function (event, ...args) {
  const wasHeard = emit.call(this, event, ...args);
  if (event === 'exit') {
    flushCompileCache();
    process.reallyExit(process.exitCode);
  }
  return wasHeard;
};
