/**
 * Turns an error of commander (`error: unknown option '--jsn'\n(Did you mean --json?)`) into one sentence. `example` is a command line
 * that has what is missing.
 */
export function usageSentence(message: string, example?: string): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.*)\?\)$/s, ' (did you mean $1?)')
    .replace(/\. Expected (.*)\.$/, ': expected $1')
    .replace(/^required option '(.*)' not specified$/, "missing option '$1'")
    .replace(/^option '(.*)' argument missing$/, "missing value of option '$1'")
    .replace(/\s+/g, ' ');
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  if (example === undefined) return sentence;
  const lister = /'job'$/.test(text) ? "; 'halogrid jobs' lists the jobs" : '';
  return `${sentence}, as in: ${example}${lister}`;
}
