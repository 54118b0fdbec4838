import { markedPath, unescaped } from './marked-path.ts';

/** A row of a Parquet file, with an image in one of its columns. */
export interface RowPart {
  /** The column: its fields from the root on, joined by dots. */
  column: string;
  /** From 0 on, in the file. */
  row: number;
  /** The path that the row states beside its image, without '/' at its beginning. */
  path?: string | undefined;
}

/** The text that stands for the row behind the URI of its file: #COLUMN/ROW, or #COLUMN/FOLDER/NAME@ROW.EXTENSION. */
const suffix = /^(.*\.parquet(?:\?[^#]*)?)#([^/#]+)\/(?:(\d{1,15})|([^#]*)@(\d{1,15})(\.[^./#@]*)?)$/is;

/**
 * The URI of a row: the URI of its file, the column, and the row's number; if it has a path, that too, with the number
 * in front of the extension, so that the end of a URI tells the format.
 */
export function rowUri(fileUri: string, { column, row, path }: RowPart): string {
  const start = `${fileUri}#${encodeURIComponent(column)}/`;
  return start + (path === undefined ? row : markedPath(path, row));
}

/** The URI of the file that holds the bytes, and if it is a Parquet file, the row of it that the URI names. */
export function splitRow(uri: string): { file: string; row?: RowPart } {
  // Few URIs have one, and millions are asked for.
  if (!uri.includes('#')) return { file: uri };
  const [, file, column, bare, path, row, extension = ''] = suffix.exec(uri) ?? [];
  if (file === undefined) return { file: uri };
  const named = path === undefined ? {} : { path: unescaped(path + extension) };
  return { file, row: { column: unescaped(column!), row: Number(bare ?? row), ...named } };
}

export const isRowUri = (uri: string): boolean => splitRow(uri).row !== undefined;
