/** Pictures of a strip, beside each other. */
const shown = 9;

/**
 * Which frames of a job a strip shows, as the API is asked for them: some of all at equal distances, or those around
 * one.
 *
 * @param {number} total
 * @param {number | undefined} around undefined: all of them
 */
export function stripFrames(total, around) {
  const count = Math.min(shown, total);
  const step = around === undefined ? Math.max(1, Math.ceil((total - 1) / Math.max(1, count - 1))) : 1;
  const from = around === undefined ? 0 : Math.max(0, Math.min(total - count, around - Math.floor(count / 2)));
  return `from=${from}&step=${step}&count=${count}`;
}
