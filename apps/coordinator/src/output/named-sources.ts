import type { JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { outputNames } from './output-names.ts';

/** A source, and the name of its files without extensions. */
export interface NamedSource<Source = SourceOutcome> {
  source: Source;
  name: string;
}

/** All sources of a job in order, told one by one. */
export function* namedSources({ sources }: Pick<JobResults, 'sources'>): Generator<NamedSource> {
  const names = outputNames(namesOf(sources));
  for (const source of sources) yield { source, name: names.next().value! };
}

function* namesOf(sources: Iterable<SourceOutcome>): Generator<string> {
  for (const { name } of sources) yield name;
}
