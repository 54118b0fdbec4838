import type { Catalog } from '../../store/catalog.ts';
import type { Unit } from '../../store/pipeline-identity.ts';
import { blocksOfIndex, massesOf } from '../../store/read-block.ts';

/** The mass of all vectors with counts; undefined if they differ, or there are none. */
export function commonMass(catalog: Catalog, unit: Unit): number | undefined {
  let common = 0;
  for (const place of blocksOfIndex(catalog)) {
    for (const mass of massesOf(catalog, place, unit)) {
      if (mass === 0 || mass === common) continue;
      if (common !== 0) return undefined;
      common = mass;
    }
  }
  return common || undefined;
}
