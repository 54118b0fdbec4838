// What the program uses of Node 24 and Node 22 lacks; every bundle begins with it.

Promise.try ??= (act, ...given) => new Promise((resolve) => resolve(act(...given)));

// Expressions of Unicode do not know `\-`.
RegExp.escape ??= (text) => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&').replaceAll('-', '\\x2d');

/**
 * Of a thread that computes, the time in which its event loop is at work; a thread that waits for a core counts as
 * busy.
 */
process.threadCpuUsage ??= (since) => {
  const user = Math.round(1000 * performance.eventLoopUtilization().active);
  return { user: user - (since?.user ?? 0), system: 0 };
};
