const words = new Set(['and', 'or', 'unless', 'bool']);

/** The series that a PromQL expression reads: every `metric{matchers}` in it, once, in order. */
export function selectors(expr: string): string[] {
  const bare = expr
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\boffset\s+\w+/g, ' ')
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\b\s*(\([^)]*\))?/g, ' ');
  const found = new Set<string>();
  for (const [, name, matchers = '', call] of bare.matchAll(
    /"[^"]*"|\$\w+|([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?\s*(\()?/g,
  )) {
    // Strings and variables are not names.
    if (name && !call && !words.has(name)) found.add(name + matchers);
  }
  return [...found];
}

/**
 * Name of the metric that a selector reads, as the program registers it; a part of a histogram gives the histogram's
 * name.
 */
export function metricName(selector: string): string {
  return selector.replace(/\{.*/s, '').replace(/_(bucket|sum|count)$/, '');
}
