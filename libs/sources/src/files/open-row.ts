import { changedInput, InputError } from '../input-error.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { splitRow } from '../row-uri.ts';
import { HeldFile } from './held-file.ts';
import { useColumn, versionNow } from './open-columns.ts';

/**
 * The image in a row of a Parquet file, by the URI of the row. Rows of a page are decoded once, as long as they are
 * asked for one soon after the other. Rejects with InputError.
 */
export async function openRow(uri: string): Promise<HeldFile> {
  const { file, row: part } = splitRow(uri);
  const { column, row } = part!;
  return await useColumn(file, column, async ({ bytes, images }) => {
    const image = await images.of(row);
    if (!isRemoteUri(file) && (await versionNow(file)) !== bytes.version)
      throw changedInput('The Parquet file was written to or replaced while it was read');
    if (!image) throw new InputError('decode', `Row ${row} has no image: its column '${column}' is null`);
    if (image.length === 0) throw new InputError('decode', 'The file is empty (0 bytes)');
    // A copy: decoders may change it, and the page need not stay.
    return new HeldFile(Buffer.from(image), bytes.versionName, bytes.version !== undefined);
  });
}
