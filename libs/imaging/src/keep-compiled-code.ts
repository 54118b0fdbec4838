import module from 'node:module';

/**
 * Writes the compiled code of this process to Node's cache, if it uses one. Called once everything is loaded, in
 * processes that are killed when they are no longer needed: Node itself writes the cache only at an orderly end.
 * Without it, the next process that reads videos takes 0.24 s of a core to start from source, instead of 0.07
 * (measured).
 */
export function keepCompiledCode(): void {
  module.flushCompileCache();
}
