import { findGpus, heldGpuMinors } from './machine-gpus.ts';
import type { NvidiaGpu } from './nvidia-gpu.ts';
import { readSmi, type SmiReading } from './nvidia-smi.ts';

/** A process that was meant for one card, and the cards whose device files it holds open after opening its device. */
export interface Placement {
  busId: string;
  pid: number;
  /** Minor numbers, ascending. */
  heldMinors: readonly number[];
}

/** `evidence` has one line per process; `reason` is one sentence. */
export type PlacementProof = { kind: 'proven'; evidence: string[] } | { kind: 'refuted'; reason: string };

/**
 * Whether each process uses the card it was meant for, and no two use the same one. The proof are the device files
 * that, by the kernel, the process holds open. If nvidia-smi answers, it must not contradict. It does not list every
 * process: it omits processes of other containers, and some that use Vulkan.
 */
export function provePlacement(
  placements: readonly Placement[],
  gpus: readonly NvidiaGpu[],
  smi: SmiReading | undefined,
): PlacementProof {
  const evidence: string[] = [];
  const owners = new Map<string, number>();
  for (const { busId, pid, heldMinors } of placements) {
    const meant = gpus.find((gpu) => gpu.busId === busId);
    if (!meant) return refuted(`Process ${pid} was meant for the GPU at ${busId}, which the driver does not list`);
    if (heldMinors.length === 0) {
      return refuted(`Process ${pid} holds no device file of a GPU open, so it cannot be seen which one it uses`);
    }
    const [held, ...others] = heldMinors.map((minor) => gpus.find((gpu) => gpu.minor === minor));
    if (others.length > 0 || held !== meant) {
      const names = heldMinors.map((minor) => `/dev/nvidia${minor}`).join(', ');
      return refuted(`Process ${pid} was meant for ${nameOf(meant)} alone but holds ${names} open`);
    }
    // The card is identified by its UUID if it has one: an address could be listed twice, a UUID is unique in a
    // machine.
    const identity = meant.uuid ?? meant.busId;
    const owner = owners.get(identity);
    if (owner !== undefined) return refuted(`Processes ${owner} and ${pid} are on one GPU, ${nameOf(meant)}`);
    owners.set(identity, pid);

    const contradiction = smi && contradictionIn(smi, meant, pid);
    if (contradiction) return refuted(contradiction);
    const memory = smi ? memoryInUse(smi, meant, pid) : '';
    evidence.push(
      `Process ${pid} is on ${nameOf(meant)}: it alone holds /dev/nvidia${meant.minor} of these processes${memory}`,
    );
  }
  return { kind: 'proven', evidence };
}

/** How nvidia-smi contradicts that the process uses the card; undefined if it does not. */
function contradictionIn({ gpus, processes }: SmiReading, meant: NvidiaGpu, pid: number): string | undefined {
  const card = gpus.find(({ busId }) => busId === meant.busId);
  if (card?.uuid && meant.uuid && card.uuid !== meant.uuid) {
    return `The driver calls the GPU at ${meant.busId} ${meant.uuid}, and nvidia-smi ${card.uuid}`;
  }
  if (card?.usedMiB === 0) {
    return `Process ${pid} holds ${nameOf(meant)} open, but nvidia-smi says that none of its memory is in use`;
  }
  const elsewhere = processes.find((each) => each.pid === pid && meant.uuid !== undefined && each.uuid !== meant.uuid);
  return elsewhere && `Process ${pid} was meant for ${nameOf(meant)} but nvidia-smi lists it on ${elsewhere.uuid}`;
}

/** Memory in use on the card, and the process's share of it, as the end of a line; empty if neither is known. */
function memoryInUse({ gpus, processes }: SmiReading, { busId }: NvidiaGpu, pid: number): string {
  const all = gpus.find((gpu) => gpu.busId === busId)?.usedMiB;
  const own = processes.find((each) => each.pid === pid)?.usedMiB;
  return `${all === undefined ? '' : `, ${all} MiB in use`}${own === undefined ? '' : `, ${own} MiB of it by this process`}`;
}

const refuted = (reason: string): PlacementProof => ({ kind: 'refuted', reason });

const nameOf = ({ uuid, busId }: NvidiaGpu): string => (uuid ? `${uuid} (${busId})` : `the GPU at ${busId}`);

/**
 * Proves that each process uses the card it was meant for, and no two use the same one, once their devices are open.
 * Returns a line of evidence for each. Rejects with one sentence if that is not so or cannot be seen.
 */
export async function requirePlacement(meant: readonly { busId: string; pid: number }[]): Promise<string[]> {
  // The cards are listed again, because a card has a UUID only once it was opened.
  const inventory = await findGpus();
  const gpus = inventory ? [...inventory.visible, ...inventory.hidden] : [];
  const placements = meant.map(async ({ busId, pid }) => ({ busId, pid, heldMinors: await heldGpuMinors(pid) }));
  const verdict = provePlacement(await Promise.all(placements), gpus, await readSmi());
  if (verdict.kind === 'proven') return verdict.evidence;
  throw new Error(`It cannot be proven that each node has a GPU of its own: ${verdict.reason}`);
}

/** The card that this process has open; undefined if it has none or several open. */
export async function openGpu(): Promise<NvidiaGpu | undefined> {
  const inventory = await findGpus();
  const [held, ...others] = inventory ? await heldGpuMinors(process.pid) : [];
  if (!inventory || others.length > 0) return undefined;
  return [...inventory.visible, ...inventory.hidden].find(({ minor }) => minor === held);
}
