/** Thrown for bytes of a column that this version would not write. The message is a clause about them: 'ends early'. */
export class ColumnError extends Error {
  override name = 'ColumnError';
}
