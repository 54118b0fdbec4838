// Functions of Node 24 that the program uses and Node 22 lacks. Every bundle begins with this file.

Promise.try ??= (act, ...given) => new Promise((resolve) => resolve(act(...given)));

// `\-` is not allowed in regular expressions with Unicode flags.
RegExp.escape ??= (text) => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&').replaceAll('-', '\\x2d');

/**
 * Approximates the processor time of a thread by the time in which its event loop is active. A thread that waits for a
 * core counts as busy.
 */
process.threadCpuUsage ??= (since) => {
  const user = Math.round(1000 * performance.eventLoopUtilization().active);
  return { user: user - (since?.user ?? 0), system: 0 };
};
