import type { Command } from 'commander';

interface CommandEntry {
  /** Its line in the help of the program. */
  summary: string;
  /** Loads the file of the command, with everything that it needs. Called only if the command runs. */
  load: () => Promise<(program: Command) => void>;
}

/** Every command by its name, in the order of the help. The help needs none of the commands' files. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  run: {
    summary: 'process sources and wait for the results',
    load: async () => (await import('./run.ts')).addRunCommand,
  },
  kernels: {
    summary: 'show what --op takes: kernels and their parameters',
    load: async () => (await import('./kernels.ts')).addKernelsCommand,
  },
  plan: {
    summary: 'show what a run would read, need and write',
    load: async () => (await import('./plan.ts')).addPlanCommand,
  },
  merge: {
    summary: 'make one output of the parts of several runs',
    load: async () => (await import('./merge.ts')).addMergeCommand,
  },
  submit: {
    summary: 'submit a job to a cluster and print its id',
    load: async () => (await import('./jobs.ts')).addSubmitCommand,
  },
  watch: {
    summary: 'follow a job to its end',
    load: async () => (await import('./jobs.ts')).addWatchCommand,
  },
  status: {
    summary: 'show a job as it is now',
    load: async () => (await import('./jobs.ts')).addStatusCommand,
  },
  results: {
    summary: 'show or fetch what a complete job wrote',
    load: async () => (await import('./results.ts')).addResultsCommand,
  },
  show: {
    summary: 'write an HTML page about a finished job',
    load: async () => (await import('./show.ts')).addShowCommand,
  },
  jobs: {
    summary: 'list jobs, newest first',
    load: async () => (await import('./list-jobs.ts')).addJobsCommand,
  },
  nodes: {
    summary: 'list attached nodes',
    load: async () => (await import('./nodes.ts')).addNodesCommand,
  },
  cancel: {
    summary: 'stop a job',
    load: async () => (await import('./jobs.ts')).addCancelCommand,
  },
  rm: {
    summary: 'remove the results of jobs',
    load: async () => (await import('./rm.ts')).addRmCommand,
  },
  gc: {
    summary: 'show what outputs take, and remove old ones',
    load: async () => (await import('./gc.ts')).addGcCommand,
  },
  pause: {
    summary: 'compute no more of a job for now',
    load: async () => (await import('./jobs.ts')).addPauseCommand,
  },
  resume: {
    summary: 'go on with a paused job',
    load: async () => (await import('./jobs.ts')).addResumeCommand,
  },
  trace: {
    summary: 'write a timeline of the shards of a job',
    load: async () => (await import('./trace.ts')).addTraceCommand,
  },
  index: {
    summary: 'make an index of finished jobs, or add jobs to one',
    load: async () => (await import('./index-jobs.ts')).addIndexCommand,
  },
  search: {
    summary: 'find the frames of an index that are most like a query',
    load: async () => (await import('./search.ts')).addSearchCommand,
  },
  evaluate: {
    summary: 'measure how well histograms distinguish labelled images',
    load: async () => (await import('./evaluate.ts')).addEvaluateCommand,
  },
  changes: {
    summary: 'find what changed in each camera of a finished job',
    load: async () => (await import('./changes.ts')).addChangesCommand,
  },
  coordinator: {
    summary: 'run the coordinator of a cluster',
    load: async () => (await import('./coordinator.ts')).addCoordinatorCommand,
  },
  node: {
    summary: 'run a node of a cluster',
    load: async () => (await import('./node.ts')).addNodeCommand,
  },
  doctor: {
    summary: 'show what works on this machine',
    load: async () => (await import('./doctor.ts')).addDoctorCommand,
  },
  bench: {
    summary: 'measure this machine',
    load: async () => (await import('./bench.ts')).addBenchCommand,
  },
  tune: {
    summary: 'choose the fastest strategy of each kernel for this GPU',
    load: async () => (await import('./tune.ts')).addTuneCommand,
  },
  config: {
    summary: 'show every option and where its value comes from',
    load: async () => (await import('./config.ts')).addConfigCommand,
  },
  completion: {
    summary: 'print a script for shell completion',
    load: async () => (await import('./completion.ts')).addCompletionCommand,
  },
};
