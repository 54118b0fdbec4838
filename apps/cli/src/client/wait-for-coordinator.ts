import { setTimeout as delay } from 'node:timers/promises';
import { aborted, type ClientSecurity, isDialledWrongly, whyNoConnection } from '@halogrid/service';
import { grpcAddress, readCoordinatorFile } from '@halogrid/service/coordinator-file';
import { findLeader, type ServingCoordinator } from './find-leader.ts';

/** Where a coordinator writes its address, and how to tell the user that a command waits for it. */
export interface CoordinatorFile {
  /** The path of the file. */
  file: string;
  note: (sentence: string) => void;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** How often the file is read. It may be on a file server. */
const lookEveryMs = 500;

/** An address that does not answer is given up after this time, because the file may name another one by then. */
const oneLook = { withinMs: 5_000, isAskedAgain: false };

/**
 * Waits for a coordinator that the file names, without a limit, and resolves with its address. Resolves with undefined
 * if `signal` aborts before. Rejects with UsageError if the file holds something else.
 */
export async function waitForAddress({ file, note, signal }: CoordinatorFile): Promise<string | undefined> {
  for (let isFirst = true; !signal?.aborted; isFirst = false) {
    const place = await readCoordinatorFile(file);
    if (place) return grpcAddress(place);
    if (isFirst) note(`Waiting for a coordinator to write '${file}' (--coordinator-file).`);
    await Promise.race([delay(lookEveryMs), ...(signal ? [aborted(signal)] : [])]);
  }
  return undefined;
}

/**
 * Waits for a coordinator that the file names and that answers, without a limit: a file that a killed coordinator has
 *
 * left is read again until another one has written it. Rejects with one sentence if the signal aborts, or if the
 * coordinator is dialled in a wrong way, such as without TLS.
 */
export async function waitForCoordinator(
  where: CoordinatorFile,
  security: ClientSecurity,
): Promise<ServingCoordinator> {
  let isTold = false;
  for (;;) {
    const address = await waitForAddress(where);
    if (address === undefined) throw new Error(`Stopped before a coordinator had written '${where.file}'`);
    let isWrong = false;
    const leader = await findLeader([address], security, oneLook, async () => {
      isWrong = await isDialledWrongly(address, security);
      return isWrong;
    });
    if (leader) return leader;
    if (isWrong || (await isDialledWrongly(address, security)))
      throw new Error(await whyNoConnection(address, security));
    if (!isTold) where.note(`Nobody answers at ${address}, which '${where.file}' names; waiting for a coordinator.`);
    isTold = true;
    await delay(lookEveryMs);
  }
}
