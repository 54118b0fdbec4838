export const main: string;
export function nodeFlags(args: readonly string[]): string[];
export function environment(): NodeJS.ProcessEnv;
export const npxShellVariable: string;
export function whenParentIsGone(parent: number, tell: () => void): void;
export function launch(args: string[]): Promise<number>;
