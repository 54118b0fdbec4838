/**
 * The query of a URL. An undefined value is left out.
 *
 * @param {Record<string, string | number | undefined>} values by name
 */
export function queryOf(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
