import type { FileMetaData, SchemaElement } from 'hyparquet';
import { isOfRows, type Leaf, leavesOf, nameOf } from './parquet-footer.ts';

/** A column of images, and if each is a field beside a path, the column of these. */
export interface ImageColumn {
  /** Its fields from the root on, joined by dots. */
  name: string;
  images: Leaf;
  paths?: Leaf | undefined;
}

/** The columns that may hold images: bytes that are no texts, one value a row or none. Throws DamagedError. */
export function imageColumns(metadata: FileMetaData): ImageColumn[] {
  const leaves = leavesOf(metadata).filter(isOfRows);
  return leaves.filter(isBinary).map((images) => ({ name: nameOf(images), images, paths: pathBeside(images, leaves) }));
}

/**
 * The column of images: the one of the name `asked`, or of a field of that name with `bytes`; without a name, the only
 * one there is, or the only one that is called `bytes` and lies in a field, as in data sets of Hugging Face. Undefined
 * if that is none or several.
 */
export function chooseColumn(columns: readonly ImageColumn[], asked?: string): ImageColumn | undefined {
  if (asked !== undefined)
    return columns.find(({ name }) => name === asked) ?? columns.find(({ name }) => name === `${asked}.bytes`);
  if (columns.length === 1) return columns[0];
  const inFields = columns.filter(({ images: { path } }) => path.length > 1 && path.at(-1)!.name === 'bytes');
  return inFields.length === 1 ? inFields[0] : undefined;
}

const isBinary = ({ path, field }: Leaf): boolean => field.type === 'BYTE_ARRAY' && path.every(isPlain);
const isPlain = ({ converted_type, logical_type }: SchemaElement): boolean => !converted_type && !logical_type;

function pathBeside({ path }: Leaf, leaves: readonly Leaf[]): Leaf | undefined {
  if (path.length === 1 || path.at(-1)!.name !== 'bytes') return undefined;
  const isText = ({ type, converted_type, logical_type }: SchemaElement): boolean =>
    type === 'BYTE_ARRAY' && (converted_type === 'UTF8' || logical_type?.type === 'STRING');
  return leaves.find(
    (leaf) =>
      leaf.field.name === 'path' &&
      isText(leaf.field) &&
      leaf.path.length === path.length &&
      leaf.path.every((field, i) => i === path.length - 1 || field === path[i]),
  );
}
