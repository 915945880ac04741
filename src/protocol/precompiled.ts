import type { ValidateFunction } from 'ajv/dist/2020.js';

/** Validators by the digest of their schema. The build replaces this module with them (build/compiled-validators.ts); when it runs from its sources, Signpost has none. */
export const precompiled: Readonly<Record<string, ValidateFunction>> = {};
