/** The name of a field in programs and JSON: `mapFormat` for `map_format`. */
export const jsonName = (field: string): string =>
  field.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
