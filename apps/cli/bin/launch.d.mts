export const main: string;
export function nodeFlags(args: readonly string[]): string[];
export function environment(): NodeJS.ProcessEnv;
export function launch(args: string[]): Promise<number>;
