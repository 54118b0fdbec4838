const { HALOGRID_SIMULATION_SEED, HALOGRID_SIMULATION_RUNS } = process.env;
/** HALOGRID_SIMULATION_SEED, or a random seed. */
export const firstSeed = Number(HALOGRID_SIMULATION_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** How many schedules are played: HALOGRID_SIMULATION_RUNS, or 1 with HALOGRID_SIMULATION_SEED, or `unlessGiven`. */
export const scheduleRuns = (unlessGiven: number): number =>
  Number(HALOGRID_SIMULATION_RUNS ?? (HALOGRID_SIMULATION_SEED ? 1 : unlessGiven));

/**
 * Plays schedules, one seed after another, and reports the first one that fails, with the command that repeats it in
 * `file`. It is called before the first test: from then on node:test follows every promise, which takes several times
 * as long.
 */
export async function findFailure(
  file: string,
  runs: number,
  simulate: (seed: number) => Promise<unknown>,
): Promise<Error | undefined> {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
      await simulate(seed);
    } catch (error) {
      const again = `HALOGRID_SIMULATION_SEED=${seed} node --test apps/coordinator/src/testing/simulation/${file}`;
      return new Error(`Seed ${seed}: ${(error as Error).message}\nRepeat it with: ${again}`, { cause: error });
    }
  }
  return undefined;
}
