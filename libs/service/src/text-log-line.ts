import { inspect } from 'node:util';

/** Fields that a line for people shows in another way, or that say nothing to them. */
const notShown = new Set(['time', 'level', 'name', 'pid', 'msg', 'err', 'trace_id', 'notice']);

/**
 * A line of a JSON log for people: `2026-01-31T12:00:00.000Z WARN coordinator: A node is lost: … node=n1`. The stack of
 * an error follows on lines of its own. Other text is returned unchanged.
 */
export function textLogLine(line: string): string {
  let fields: Record<string, unknown> | null;
  try {
    fields = JSON.parse(line);
  } catch {
    return line;
  }
  const { time, level, name, msg, err } = fields ?? {};
  if (!fields || typeof level !== 'string') return line;
  const facts = Object.entries(fields).filter(([key]) => !notShown.has(key));
  const words = [
    time,
    level.toUpperCase(),
    `${name}:`,
    msg ?? '',
    ...facts.map(([key, value]) => `${key}=${said(value)}`),
  ];
  const { stack, message } = (err ?? {}) as { stack?: string; message?: string };
  const why = stack ?? message;
  return `${words.join(' ').replaceAll(/[\r\n]+/g, ' ')}\n${why === undefined ? '' : `${why}\n`}`;
}

/** A value; in quotes if it has blanks, so that the line can be cut into words. */
function said(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return typeof value === 'object' ? JSON.stringify(value) : inspect(value);
}
