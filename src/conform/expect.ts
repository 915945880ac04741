import { errorStatus } from '../protocol/errors.ts';
import type { Json } from '../protocol/json.ts';
import { Pagination } from '../protocol/shapes.ts';
import type { TSchema } from '../protocol/type.ts';
import { findFaults } from '../protocol/validate.ts';
import { CheckFailed } from './check.ts';
import type { Answer } from './sender.ts';
import { at, describe, show } from './values.ts';

export function expectThat(holds: boolean, actual: string): asserts holds {
  if (!holds) throw new CheckFailed(actual);
}

export function expectEqual(found: unknown, expected: unknown, what: string): void {
  expectThat(found === expected, `${what} is ${show(found)} instead of ${show(expected)}`);
}

export function expectStatus(answer: Answer, ...statuses: readonly number[]): void {
  expectThat(statuses.includes(answer.status), describe(answer));
}

export function expectRefusal(answer: Answer, status: number, ...codes: readonly string[]): void {
  const code = String(at(answer.body, 'message', 'error', 'code'));
  expectThat(answer.status === status && (codes.length === 0 || codes.includes(code)), describe(answer));
}

/** Catalog spec, Ack: status, the messageId of the request, and no member besides `message`. */
export function expectAck(answer: Answer): void {
  expectThat(answer.status === 200 && at(answer.body, 'message', 'status') === 'ACK', describe(answer));
  expectEqual(at(answer.body, 'message', 'messageId'), answer.messageId, 'message.messageId of the answer');
  const members = Object.keys(answer.body as object);
  expectThat(members.length === 1, `outside message, the acknowledgement has ${members.join(', ')}`);
}

export function expectCatalogs(catalogs: readonly Json[]): void {
  for (const catalog of catalogs)
    for (const member of ['id', 'descriptor', 'provider'])
      expectThat(at(catalog, member) !== undefined, `${member} is missing in ${show(catalog)}`);
}

export function expectPagination(message: Json | undefined, expected: Record<string, number>): void {
  const pagination = at(message, 'pagination') ?? null;
  expectShape(Pagination, pagination, 'message.pagination');
  for (const [member, value] of Object.entries(expected))
    expectEqual(at(pagination, member), value, `pagination.${member}`);
}

export function expectShape(schema: TSchema, value: unknown, what: string): void {
  const [fault] = findFaults(schema)(value);
  if (fault)
    throw new CheckFailed(`${what}: ${fault.message}${fault.details ? ` (${fault.details.path})` : ''}`);
}

export function expectKnownCode(code: unknown, where: string): void {
  const isKnown = typeof code === 'string' && Object.hasOwn(errorStatus, code);
  expectThat(isKnown, `${where} has the code ${show(code)}, which the enumeration does not have`);
}
