import { protocolVersion } from '../protocol/endpoints.ts';
import { isDateTime } from '../protocol/time.ts';
import { CheckSkipped, clause } from './check.ts';
import { expectEqual, expectThat } from './expect.ts';
import type { Inbox, Received } from './inbox.ts';
import { at, show } from './values.ts';

// Rules for every callback and push. These checks examine all received messages, so they run last.

const on = clause<{ inbox: Inbox }>;

export const messageChecks = [
  ...on('Catalog spec: What the service does, two members, context and message', {
    'messages-enveloped: a JSON object with the members context and message, and no others, in every callback and push':
      async (scene) => {
        for (const { action, body } of receivedBy(scene)) {
          const members = Object.keys(Object(body)).sort().join(', ');
          expectEqual(members, 'context, message', `the list of members of ${action}`);
        }
      },
  }),
  ...on('Catalog spec: Context', {
    'messages-context: messageId, transactionId and an ISO 8601 timestamp in the context of every callback and push':
      async (scene) => {
        for (const { action, body } of receivedBy(scene)) {
          for (const member of ['messageId', 'transactionId'])
            expectThat(typeof at(body, 'context', member) === 'string', `${action} has no ${member}`);
          const time = at(body, 'context', 'timestamp');
          const isTime = typeof time === 'string' && isDateTime(time);
          expectThat(isTime, `the timestamp of ${action} is ${show(time)}`);
        }
      },
  }),
  ...on('Catalog spec: Versioning, the version used in all messages is 2.0.0', {
    [`messages-version: context.version ${protocolVersion} in every callback and push`]: async (scene) => {
      for (const { action, body } of receivedBy(scene))
        expectEqual(at(body, 'context', 'version'), protocolVersion, `context.version of ${action}`);
    },
  }),
];

function receivedBy({ inbox }: { inbox: Inbox }): readonly Received[] {
  if (inbox.received.length === 0) throw new CheckSkipped('no callback or push came');
  return inbox.received;
}
