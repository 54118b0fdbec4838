import { Cause } from '@halogrid/proto';
import type { InputFault } from '@halogrid/sources';

/** The cause that a node reports to its coordinator for an input that it could not process. */
export const causes: Record<InputFault, Cause> = {
  content: Cause.CONTENT,
  access: Cause.ACCESS,
  away: Cause.AWAY,
  closed: Cause.CLOSED,
  changed: Cause.CHANGED,
  process: Cause.ACCESS,
};
