import type { Command } from 'commander';

/** A command line as a person types it, and what it is for. */
export type Example = readonly [line: string, purpose: string];

/** Examples by the names of a command and its subcommand; '' is the program itself. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  '': [
    ['halogrid doctor', 'shows what works on this machine'],
    ['halogrid plan photos', 'shows what a job would read, need and write'],
    ['halogrid run photos --out results', 'computes the LBP histograms of a folder of images'],
    ['halogrid run --help', 'shows what a job can compute, with examples'],
  ],
  run: [
    ['halogrid run photos', 'LBP histograms of a folder of images'],
    ['halogrid run survey.tif --map tiff --nodes 2 --out survey', 'with a map, for an image of any size'],
    ['halogrid run photos --op conv:kernel=gaussian-5,as=u8 --op lbp', 'smoothed first'],
    [
      'halogrid run photos --pipeline codes=lbp --pipeline edges=ldp:order=3',
      'two pipelines, decoded once, a folder each',
    ],
    ['halogrid run photos --op ldp:order=3 --grid 4x6', 'derivative patterns, with a histogram for each cell'],
    ['halogrid run photos --op glcm:levels=32', 'co-occurrence matrices, with their contrast, entropy …'],
    ['halogrid run cam1.mp4 --from 00:01:00 --to 00:02:00 --fps 5', 'a minute of a recording'],
    ['halogrid run s3://archive/2026/ --coordinator rack-1:7070', 'on a cluster'],
    ['halogrid run photos --part 2/10 --out parts/2', 'a tenth of it; halogrid merge makes one output of all ten'],
  ],
  kernels: [
    ['halogrid kernels', 'all kernels'],
    ['halogrid kernels lbp', 'the parameters of lbp'],
  ],
  plan: [
    ['halogrid plan photos --map tiff', 'shows whether the maps would fit on the disk'],
    ['halogrid plan cam1.mp4 --fps 5 --json', 'for a program'],
    ['halogrid plan photos --write plan', 'for halogrid run --plan plan --part 1/10'],
  ],
  merge: [['halogrid merge parts/* --out results', 'one output of the folders of all parts']],
  submit: [
    ['halogrid submit /srv/archive --out /srv/results', 'prints the id of the job'],
    ["halogrid submit '/srv/archive/**/*.jpg' --priority 10", 'runs before other jobs'],
    ['halogrid submit /srv/archive --verify 1%', 'computes a part of the shards a second time'],
  ],
  watch: [
    ['halogrid watch 20260131-2359', 'the beginning of an id is enough'],
    ['halogrid watch 0a1b2c', 'and so is its end'],
  ],
  status: [
    ['halogrid status 20260131-235959-0a1b2c', 'the job with that id'],
    ['halogrid status 20260131-2359 --json', 'the job whose id begins like this, for a program'],
  ],
  trace: [['halogrid trace 20260131-2359 --to trace.json', 'open the file at https://ui.perfetto.dev']],
  results: [
    ['halogrid results 20260131-2359', 'shows where the results are'],
    ['halogrid results 20260131-2359 --out results', 'copies them'],
  ],
  show: [
    ['halogrid show results', 'halogrid-report-ID.html in this folder'],
    ['halogrid show results -o report.html', 'a file of your choice'],
  ],
  jobs: [
    ['halogrid jobs', 'the newest'],
    ['halogrid jobs --state pending,running', 'active jobs'],
    ['halogrid jobs --mine', 'jobs of your token'],
    ['halogrid jobs --state failed --since 3d', 'failures of the last three days'],
    ['halogrid jobs --coordinator rack-1:7070 --limit 0 --json', 'all jobs, for a program'],
  ],
  nodes: [['halogrid nodes --coordinator rack-1:7070,rack-2:7070', 'of the first coordinator that answers']],
  cancel: [['halogrid cancel 20260131-235959', 'the job whose id begins like this']],
  rm: [
    ['halogrid rm halogrid-out/20260131-235959-0a1b2c', 'the results in a folder'],
    ['halogrid rm 0a1b2c --coordinator rack-1:7070', 'the results of a job of a cluster'],
  ],
  gc: [
    ['halogrid gc /srv/results', 'shows jobs and their sizes'],
    ['halogrid gc /srv/results --older-than 30d --dry-run', 'what would be removed'],
    ['halogrid gc /srv/results --unfinished --coordinator rack-1:7070', 'with what nobody leads'],
  ],
  pause: [['halogrid pause 20260131-235959', 'the job whose id begins like this']],
  resume: [['halogrid resume 20260131-235959', 'goes on with it']],
  coordinator: [
    ['halogrid coordinator', 'for nodes and commands on this machine'],
    [
      'halogrid coordinator --listen 0.0.0.0:7070 --data-root /srv --tokens tokens',
      'for other machines, with tokens; see docs/security.md for TLS',
    ],
  ],
  node: [
    ['halogrid node --coordinator rack-1:7070', 'computes on the best device of the machine'],
    ['halogrid node --coordinator rack-1:7070 --gpu all', 'a node on each NVIDIA GPU'],
    ['halogrid node --coordinator rack-1:7070 --storage remote', 'without access to the files of the cluster'],
  ],
  index: [
    ['halogrid index results --to archive.index', 'makes an index of a finished job'],
    ['halogrid index results/* --to archive.index', 'adds the jobs that the index does not have'],
  ],
  search: [
    ['halogrid search query.jpg --index archive.index', 'the ten most similar frames'],
    ['halogrid search query.jpg --index archive.index --top 50 --out found', 'with a contact sheet'],
    [
      'halogrid search query.jpg --region 82,41,64x48 --cells --index archive.index',
      'frames with something like this part',
    ],
  ],
  evaluate: [
    ['halogrid evaluate faces --op ldp:order=3 --grid 4x4', 'a folder for each class'],
    ['halogrid evaluate faces --pipeline a=lbp --pipeline b=ldp', 'side by side'],
  ],
  changes: [
    ['halogrid changes results', 'what changed in frames that were run with --grid 8x8'],
    ['halogrid changes results --kind covered,left --out seen', 'with a timeline and pictures'],
  ],
  doctor: [['halogrid doctor', 'shows which devices work, and why others do not']],
  bench: [['halogrid bench kernels', 'kernel times on the GPU']],
  'bench kernels': [['halogrid bench kernels --width 1920 --height 1080', 'for images of this size']],
  'bench frames': [['halogrid bench frames --frames 500 --nodes 2', 'a shorter run with two nodes']],
  tune: [
    ['halogrid tune', 'takes minutes, once for each GPU'],
    ['halogrid tune --forget', 'returns to the defaults of the program'],
  ],
  config: [
    ['halogrid config', 'shows what is set, and where'],
    ['halogrid config run', 'shows every option of run with its value'],
  ],
  completion: [['halogrid completion bash', 'docs/command-line.md shows where to save it']],
};

/** Adds examples to the help of the program and of each of its commands and subcommands. */
export function addExamples(program: Command): void {
  const add = (command: Command, name: string): void => {
    command.addHelpText('after', describeExamples(examples[name] ?? []));
    for (const each of command.commands) add(each, `${name} ${each.name()}`.trim());
  };
  add(program, '');
}

/** The first example of the command that these words name. */
export function exampleOf([name = '', below]: readonly string[]): string | undefined {
  const [first] = examples[`${name} ${below}`] ?? examples[name] ?? [];
  return first?.[0];
}

/** The examples as text: each on a line, below a line with its purpose. */
function describeExamples(all: readonly Example[]): string {
  return all.length === 0
    ? ''
    : `\nExamples:\n${all.map(([line, purpose]) => `  # ${purpose}\n  ${line}\n`).join('')}`.trimEnd();
}
