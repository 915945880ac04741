import type { ValidateFunction } from 'ajv/dist/2020.js';

/** Validators by the digest of their schema. The build writes them into the place of this module (build/compiled-validators.ts); run from its sources, Signpost has none. */
export const precompiled: Readonly<Record<string, ValidateFunction>> = {};
