import { get } from './get.ts';

/** The metrics of the process at http://HOST:PORT: values by series, e.g. `halogrid_jobs{state="complete"}`. */
export async function readMetrics(http: string): Promise<Map<string, number>> {
  const response = await get(`${http}/metrics`);
  if (!response.ok) throw new Error(`${http}/metrics answered ${response.status}`);
  const lines = (await response.text()).split('\n').filter((line) => line && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}
