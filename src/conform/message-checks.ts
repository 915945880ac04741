import { protocolVersion } from '../protocol/endpoints.ts';
import { isDateTime } from '../protocol/time.ts';
import { type Check, CheckSkipped } from './check.ts';
import { at, expectEqual, expectThat, show } from './expect.ts';
import type { Inbox, Received } from './inbox.ts';

// What every callback and push must be, whatever it is for (catalog spec: What the service does, Context, Versioning). They look at all that came so far, so they
// stand at the end.

type MessageCheck = Check<{ inbox: Inbox }>;

export const messageChecks: readonly MessageCheck[] = [
  {
    name: 'messages-enveloped',
    clause: 'Catalog spec: What the service does, two members, context and message',
    expects: 'a JSON object with the members context and message, and no others, in every callback and push',
    async run(scene) {
      for (const { action, body } of receivedBy(scene)) {
        const members = Object.keys(Object(body)).sort().join(', ');
        expectEqual(members, 'context, message', `the list of members of ${action}`);
      }
    },
  },
  {
    name: 'messages-context',
    clause: 'Catalog spec: Context',
    expects: 'messageId, transactionId and an ISO 8601 timestamp in the context of every callback and push',
    async run(scene) {
      for (const { action, body } of receivedBy(scene)) {
        for (const member of ['messageId', 'transactionId'])
          expectThat(typeof at(body, 'context', member) === 'string', `${action} has no ${member}`);
        const timestamp = at(body, 'context', 'timestamp');
        expectThat(
          typeof timestamp === 'string' && isDateTime(timestamp),
          `the timestamp of ${action} is ${show(timestamp)}`,
        );
      }
    },
  },
  {
    name: 'messages-version',
    clause: 'Catalog spec: Versioning, the version used in all messages is 2.0.0',
    expects: `context.version ${protocolVersion} in every callback and push`,
    async run(scene) {
      for (const { action, body } of receivedBy(scene))
        expectEqual(at(body, 'context', 'version'), protocolVersion, `context.version of ${action}`);
    },
  },
];

function receivedBy({ inbox }: { inbox: Inbox }): readonly Received[] {
  if (inbox.received.length === 0) throw new CheckSkipped('no callback or push came');
  return inbox.received;
}
