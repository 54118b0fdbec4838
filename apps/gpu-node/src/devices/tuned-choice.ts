import { type ChooseStrategy, strategiesOf, strategyKey } from '@halogrid/kernels/gpu';
import { cacheFolders } from '@halogrid/service';
import { readTuning, type TunedAdapter, type TunedChoice } from './tuning-file.ts';

/** What `halogrid tune` chose for an adapter; nothing where it was not run. `note` takes a line that says what is used. */
export async function tunedChoice(adapter: TunedAdapter, note: (line: string) => void): Promise<ChooseStrategy> {
  const tuning = await readTuning(adapter, cacheFolders(process.env), note);
  if (!tuning) return () => undefined;
  note(`Using ${tuning.choices.length} tuned choices of ${tuning.path}`);
  return chooseAmong(tuning.choices);
}

/** Looks choices up. One that is not among the exact strategies of its kernel is passed over. */
export function chooseAmong(choices: readonly TunedChoice[]): ChooseStrategy {
  const byKey = new Map(choices.map((choice) => [choice.key, choice]));
  return (operation, output) => {
    const choice = byKey.get(strategyKey(operation, output));
    return strategiesOf(operation, output).find(({ name, lanes, isExact }) => {
      const isChosen = name === choice?.name && lanes.width === choice.lanes.width;
      return isExact && isChosen && lanes.height === choice.lanes.height;
    });
  };
}
