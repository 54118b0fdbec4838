const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

/** A line of a structured log for people: its level, its message and its error; other text as it is. */
export function plainLogLine(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    if (typeof msg !== 'string') return line;
    const reason = err?.message && !msg.includes(err.message) ? `: ${err.message}` : '';
    return `${levels[level] ?? 'info'} ${msg}${reason}`;
  } catch {
    return line;
  }
}

/** The message of a line that is for whoever waits for the program's work, marked `notice`; undefined for all others. */
export function noticeOf(line: string): string | undefined {
  if (!line.includes('"notice":true')) return undefined;
  try {
    const { msg } = JSON.parse(line);
    return typeof msg === 'string' ? msg : undefined;
  } catch {
    return undefined;
  }
}
