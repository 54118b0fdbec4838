export const main: string;
export function nodeFlags(args: readonly string[]): string[];
export function environment(): NodeJS.ProcessEnv;
export const npxVariable: string;
export function whenNpxIsGone(processes: string, tell: () => void): void;
export function launch(args: string[]): Promise<number>;
