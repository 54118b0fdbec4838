import { Cause } from '@halogrid/proto';
import type { InputFault } from '@halogrid/sources';

/** What a coordinator is told of an input that could not be had. */
export const causes: Record<InputFault, Cause> = {
  content: Cause.CONTENT,
  access: Cause.ACCESS,
  away: Cause.AWAY,
  closed: Cause.CLOSED,
  changed: Cause.CHANGED,
  process: Cause.ACCESS,
};
