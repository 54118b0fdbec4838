export const coresVariable: string;
export function whyNotCores(env?: NodeJS.ProcessEnv): string | undefined;
export function cores(env?: NodeJS.ProcessEnv, root?: string, processors?: number): number;
