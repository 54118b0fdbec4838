/** An error about `--opt=value`, where the option is unknown or a flag. */
const unknownWithValue = /^error: unknown option '(--[\w-]+)=(.*)'(?:\s*\(Did you mean (.*)\?\))?$/s;

/** Turns an error of commander (`error: unknown option '--jsn'\n(Did you mean --json?)`) into one sentence. */
export function usageSentence(message: string): string {
  const [, option, value, meant] = unknownWithValue.exec(message) ?? [];
  if (option !== undefined && option === meant) return `Expected no value for ${option} but received '${value}'`;
  if (option !== undefined) return `Unknown option '${option}'${meant ? ` (did you mean ${meant}?)` : ''}`;
  const text = message
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.*)\?\)$/s, ' (did you mean $1?)')
    .replace(/\. Expected (.*)\.$/, ': expected $1')
    .replace(/^required option '(.*)' not specified$/, "missing option '$1'")
    .replace(/^option '(.*)' argument missing$/, "missing value of option '$1'")
    .replace(/\s+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
