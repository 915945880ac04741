import { catalogKeyOf, kindOf, numberOf } from '../documents/keys.ts';
import { everyResource, isOfNumbers } from '../lists/runs.ts';
import type { Difference } from './check.ts';

/** A difference on one line: what is missing or surplus, in which posting list, and whose it is. */
export function describeDifference(difference: Difference): string {
  const { key } = difference;
  const whose = `key ${key} (${kindOf(key)} ${numberOf(key)} of catalog ${catalogKeyOf(key)})`;
  switch (difference.what) {
    case 'list':
      return `${difference.kind}: list ${difference.list} (${describeList(difference.list)}), ${whose}, beside it ${difference.mark}`;
    case 'stored':
      return `other entries are stored than the document has: ${whose}`;
    case 'geometry':
      return `${difference.kind === 'surplus' ? 'surplus: geometries without a document' : 'other geometries than the document has'}: ${whose}`;
    default:
      return `${difference.kind}: ${difference.what} ${JSON.stringify(difference.name)}, ${whose}`;
  }
}

function describeList(list: number): string {
  if (list === everyResource) return 'every resource';
  if (list >= 0) return 'a fact';
  if (isOfNumbers(list)) return 'numbers';
  return list % 2 === 0 ? `word ${-list / 2}` : `word ${(-list - 1) / 2} in offers`;
}
