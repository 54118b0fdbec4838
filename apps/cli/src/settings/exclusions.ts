interface Exclusion {
  given: string;
  drops: readonly string[];
  /** Values of `given` that go together with them. */
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
const kernels = both('op', ['pipeline']);
const frames = both('every', ['fps']);
const voice = both('quiet', ['verbose']);

const byCommand: Readonly<Record<string, readonly Exclusion[]>> = {
  run: [
    ...both('coordinator', ['nodes', 'device', 'decode', 'gpu', 'source-grace', 'space-grace']),
    ...both('gpu', ['nodes']),
    ...onOneGpu,
    ...kernels,
    ...frames,
    ...voice,
  ],
  plan: [...kernels, ...frames],
  submit: [...kernels, ...frames, ...voice],
  evaluate: [...kernels, ...both('grid', ['block'])],
  node: [{ given: 'pinned-gpu', drops: ['gpu'] }, ...onOneGpu],
  tune: both('quick', ['forget']),
};

/** HALOGRID_TOKEN is the token itself, and no option: others see those. */
const ofEvery: readonly Exclusion[] = [{ given: 'token', drops: ['token-file'] }];

/**
 * What a value from one place makes go of lower ones, because the command refuses both together: `--nodes 2` on the command line makes
 * `coordinator` of a file go.
 */
export function droppedBy(command: string, given: string, value: unknown): readonly string[] {
  return [...ofEvery, ...(byCommand[command] ?? [])]
    .filter((rule) => rule.given === given && !rule.except?.includes(value))
    .flatMap((rule) => rule.drops);
}

/** What is refused in every place but the command line, with the reason. */
export const onlyTyped: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plan: { coordinator: 'a plan is made on this machine, wherever the job runs' },
  results: { out: 'in other commands it is where jobs write; here it copies' },
  show: { out: 'in other commands it is a folder' },
};

export const commandsWithExclusions: readonly string[] = Object.keys(byCommand);
