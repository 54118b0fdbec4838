/** The name of a field as programs and JSON have it: `mapFormat` of `map_format`. */
export const jsonName = (field: string): string =>
  field.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
