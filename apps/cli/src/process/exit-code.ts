import { HalogridError, isRefusal } from '@halogrid/client/errors';
import { ParameterError } from '@halogrid/kernels/parameter-error';
import { UsageError } from '@halogrid/service/usage-error';

/** The exit codes of the program; part of its interface. */
export const exitCodes = {
  /** The job is complete, or the command did what it was asked for. */
  complete: 0,
  failed: 1,
  /** The command itself is wrong; nothing was done. */
  usage: 2,
  /** The job is complete and has quarantined inputs. */
  quarantined: 3,
  /** A node was stopped while it had work, or by --until: start it again. It is sysexits.h's EX_TEMPFAIL. */
  requeue: 75,
  /** Ended by Ctrl-C, SIGTERM or a closed terminal: 128 and the number of the signal, as in a shell. */
  interrupted: 130,
  terminated: 143,
  hungUp: 129,
} as const;

/** The exit code of a command that made a plan: `quarantined` if every input is. */
export function exitCodeOfPlan({
  quarantined,
  shards,
  kept,
}: {
  quarantined: number;
  shards: number;
  kept: number;
}): number {
  return quarantined > 0 && shards === 0 && kept === 0 ? exitCodes.quarantined : exitCodes.complete;
}

/** The exit code of a command that threw `error`. */
export function exitCodeOfError(error: unknown): number {
  const isRefused = error instanceof HalogridError && isRefusal(error.code);
  return isRefused || error instanceof UsageError || error instanceof ParameterError
    ? exitCodes.usage
    : exitCodes.failed;
}

/** The exit code of a command that was stopped by the signal that `shutdownSignal` gives as its reason. */
export function exitCodeOfSignal(reason: unknown): number {
  if (reason === 'SIGTERM') return exitCodes.terminated;
  return reason === 'SIGHUP' ? exitCodes.hungUp : exitCodes.interrupted;
}
