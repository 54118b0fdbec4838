/** What a caller may do: submit and cancel jobs (and look), compute as a node, or only look. */
export const roles = ['submit', 'node', 'read'] as const;
export type Role = (typeof roles)[number];

/**
 * Whether one who has the role `held` may do what needs `needed`: who submits jobs may look at them, a node may not.
 */
export function includesRole(held: Role, needed: Role): boolean {
  return held === needed || (held === 'submit' && needed === 'read');
}
