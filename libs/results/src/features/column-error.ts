/** Bytes of a column that are not as this version writes them; the message says what they do: 'ends early'. */
export class ColumnError extends Error {
  override name = 'ColumnError';
}
