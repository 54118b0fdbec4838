import { openImage } from '@halogrid/imaging';
import { checkSpec } from '@halogrid/jobs/check-spec';
import { Refusal } from '@halogrid/jobs/refusal';
import type { JobSpec } from '@halogrid/proto';
import { parseLevel } from '@halogrid/proto/level';
import { readOptions } from '@halogrid/proto/read-options';
import { named, sentence } from '@halogrid/proto/sentence';
import { InputError, listAllSources, redactUri } from '@halogrid/sources';

/**
 * The specification with the numbers of the bands that `all` stands for: the bands of the first input. Others stay as
 * they are. Throws Refusal, if need be because the input cannot be read so. `check` checks a whole specification.
 */
export async function withAllBands(
  spec: JobSpec,
  check: (spec: JobSpec) => ReturnType<typeof checkSpec> = checkSpec,
): Promise<JobSpec> {
  const { band, share } = spec;
  // A written plan has the numbers.
  if (!band?.all || band.numbers.length > 0 || share?.plan) return spec;
  // Any band shows how many there are.
  const { spec: checked } = await check({ ...spec, band: { numbers: [1] } });
  const level = parseLevel(checked.level ?? '');
  const { filter, column } = checked;
  const options = { filter, column, level: level && 'number' in level ? level.number : 0 };
  for await (const inputs of listAllSources(checked.sources, options)) {
    const [first] = inputs;
    if (!first) continue;
    const count = await bandsOf(first.uri, checked);
    return { ...spec, band: { numbers: Array.from({ length: count }, (_, i) => i + 1), all: true } };
  }
  // The check has found inputs before.
  throw new Refusal('missing', sentence`Expected an input, whose bands ${named('band')} all reads, but there is none`);
}

async function bandsOf(uri: string, spec: JobSpec): Promise<number> {
  try {
    const image = await openImage(uri, readOptions(spec));
    await image.close();
    return image.bands ?? 1;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const allowed = sentence`a TIFF or JPEG 2000 as the first input, because ${named('band')} all reads as many bands as it has,`;
    throw new Refusal(
      'invalid',
      sentence`Expected ${allowed} but '${redactUri(uri)}' is none: ${error.message}`,
      'band',
    );
  }
}
