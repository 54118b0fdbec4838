/** Turns an error of commander (`error: unknown option '--jsn'\n(Did you mean --json?)`) into one sentence. */
export function usageSentence(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.*)\?\)$/s, ' (did you mean $1?)')
    .replace(/\. Expected (.*)\.$/, ': expected $1')
    .replace(/\s+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
