interface Exclusion {
  given: string;
  drops: readonly string[];
  /** Values of `given` that are allowed together with them. */
  except?: readonly unknown[];
}

const both = (one: string, others: readonly string[]): Exclusion[] => [
  { given: one, drops: others },
  ...others.map((other) => ({ given: other, drops: [one] })),
];

const onOneGpu: Exclusion[] = [
  { given: 'gpu', drops: ['device'] },
  { given: 'device', drops: ['gpu'], except: ['auto', 'gpu'] },
];
const ownClusters = ['nodes', 'device', 'decode', 'gpu', 'source-grace', 'space-grace', 'scratch', 'part'];
const kernels = both('op', ['pipeline']);
const frames = both('every', ['fps']);
const voice = both('quiet', ['verbose']);

const byCommand: Readonly<Record<string, readonly Exclusion[]>> = {
  run: [
    ...both('coordinator', ownClusters),
    ...both('coordinator-file', ownClusters),
    ...both('gpu', ['nodes']),
    ...onOneGpu,
    ...kernels,
    ...frames,
    ...voice,
  ],
  plan: [...kernels, ...frames, { given: 'write', drops: ['out'] }],
  submit: [...kernels, ...frames, ...voice],
  evaluate: [...kernels, ...both('grid', ['block'])],
  coordinator: both('ledger', ['ledger-file']),
  node: [{ given: 'pinned-gpu', drops: ['gpu'] }, ...onOneGpu],
  tune: both('quick', ['forget']),
};

/** HALOGRID_TOKEN is the token itself. It is not an option, because other users can read command lines. */
const ofEvery: readonly Exclusion[] = [
  { given: 'token', drops: ['token-file'] },
  ...both('coordinator', ['coordinator-file']),
];

/**
 * The options whose values from lower places are ignored because of this value, as the command refuses both together:
 * with `--nodes 2` on the command line, `coordinator` of a file is ignored.
 */
export function droppedBy(command: string, given: string, value: unknown): readonly string[] {
  return [...ofEvery, ...(byCommand[command] ?? [])]
    .filter((rule) => rule.given === given && !rule.except?.includes(value))
    .flatMap((rule) => rule.drops);
}

/** Options that only the command line may set, with the reason. */
export const onlyTyped: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plan: { coordinator: 'a plan is made on this machine, wherever the job runs' },
  results: { out: 'in other commands it is where jobs write; here it copies' },
  show: { out: 'in other commands it is a folder' },
};

export const commandsWithExclusions: readonly string[] = Object.keys(byCommand);
