import { privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';

/** The public half of a seed, as the registry takes it: 32 raw bytes in Base64. */
export function publicKeyFromSeed(seed: string): string {
  return publicKeyOf(privateKeyFromSeed(seed));
}
