export const layers: readonly (readonly string[])[];
export const leaves: readonly string[];
export function importsIn(text: string): string[];
