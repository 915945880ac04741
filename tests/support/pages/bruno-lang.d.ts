// The parser of Bruno's files comes without types.
declare module '@usebruno/lang' {
  import type { BrunoRequest } from './bruno.ts';
  export function bruToJsonV2(text: string): BrunoRequest;
  export function collectionBruToJson(text: string): { script?: { req?: string } };
}
