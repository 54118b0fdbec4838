/** Variables that look like variables of options but are not, with what they are. No option may have such a name. */
export const otherVariables: Readonly<Record<string, string>> = {
  HALOGRID_TOKEN: 'the token itself, which no command line may show',
  HALOGRID_NPX: 'tells the program which processes are npx',
  HALOGRID_PROGRAM: 'what tests start in place of the sources',
  HALOGRID_PATIENCE: 'multiplies the limits of tests',
  HALOGRID_THOROUGH: 'how often tests repeat what is random',
  HALOGRID_URL: 'the coordinator of the Python client',
  HALOGRID_BIN: 'the program of the Python client',
  HALOGRID_FFMPEG: 'whether images of deploy/docker have FFmpeg',
  HALOGRID_DATA: 'a folder of deploy/docker',
  HALOGRID_USER: 'a user of deploy/docker',
  HALOGRID_CORES: 'the cores that this program may use, before its threads start',
  HALOGRID_CLUSTER: 'the label of metrics, of coordinators and nodes',
};

/** Variables of tests, and of services that Kubernetes adds to the environment of every container. */
const others =
  /^HALOGRID_(TEST.*|MUTANT.*|JPEG_MUTANTS|FAULT_.*|SIMULATION_.*|FLOOD|SEARCH_ROWS|MAP_SIDE|METRICS_DAYS|BLIND_FRAMES)$|_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP).*)?$/;

/** Variables that look like settings but are unknown. */
export function unknownVariables(env: NodeJS.ProcessEnv, known: ReadonlySet<string>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith('HALOGRID_') && !known.has(name) && !(name in otherVariables) && !others.test(name),
  );
}
