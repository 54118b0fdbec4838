/** Numbers of seconds in rules: how old the last result may be, and how long the ledger may be behind. */
const seconds: Record<string, RegExp> = {
  lastResult: /(?<=<= )300\b/,
  ledgerBehind: /(?<=halogrid_ledger_behind_seconds\) > )30\b/,
};
const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * The text of a Prometheus rules file with every time divided by `by`: the waits of alerts, the ranges of rates, and
 * the seconds that alerts compare with. Everything else stays. Throws if a pattern of `seconds` is not found in a file
 * of alerts.
 */
export function shortenedRules(text: string, by: number): string {
  const isOfAlerts = text.includes('alert:');
  const divide = (amount: string, unit: string): string => `${(Number(amount) * unitSeconds[unit]!) / by}s`;
  let shortened = text
    .replaceAll(/(?<=\bfor: )(\d+)([smhd])$/gm, (_, amount, unit) => divide(amount, unit))
    .replaceAll(/(?<=\[)(\d+)([smhd])(?=\])/g, (_, amount, unit) => divide(amount, unit));
  for (const [name, pattern] of Object.entries(isOfAlerts ? seconds : {})) {
    if (!pattern.test(shortened)) throw new Error(`No rule has the seconds of ${name}`);
    shortened = shortened.replace(pattern, (amount) => String(Number(amount) / by));
  }
  return shortened;
}
