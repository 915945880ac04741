import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { actions } from '../../../src/protocol/actions.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { actionExamples } from '../../../src/protocol/example-messages.ts';
import { parseSignatureHeader, signRequest } from '../../../src/protocol/request-signature.ts';
import { feedTable } from '../../../src/storage/feeds/feeds.ts';
import { until } from '../../support/time.ts';
import { arbitraryValue } from '../../support/values/arbitrary-value.ts';
import { exchange } from '../http-exchange.ts';
import { type ByteMutation, bytesSometimes, mutateBytes } from '../mutate-bytes.ts';
import { mutateText, mutations } from '../mutate-json.ts';
import { isAccepted, judgeNack } from '../oracle.ts';
import { network } from '../participants.ts';
import type { Scene } from '../scene.ts';
import type { Sent } from '../sink.ts';
import { accepted, type Target } from '../target.ts';

// A catalog service that the discovery service follows and that gives bad answers to pulls: on_pull with a valid signature that names the pull.

interface PullCase {
  /** The signed message. */
  message: string;
  /** Changes of the bytes before they are signed. */
  bytes: readonly ByteMutation[];
}

const examples = Object.values(actionExamples.onPull.bodies).map(
  ({ value }) => (value as { message: unknown }).message,
);

export const pullAnswers: Target<PullCase> = {
  name: 'on_pull of a catalog service that is followed',
  weight: 3,
  cases: fc.record({
    message: fc
      .tuple(
        fc.oneof(fc.constantFrom(...examples), arbitraryValue(actions.onPull.body.properties.message)),
        mutations,
      )
      .map(([message, changes]) => mutateText(message, changes)),
    bytes: bytesSometimes(8),
  }),
  run: runPullAnswer,
};

async function runPullAnswer(scene: Scene, { message, bytes }: PullCase, id: string): Promise<string> {
  const feed = feedOf(scene);
  const pull = feed.pull ?? (await awaitPull(scene, feed));
  const { feed: service } = scene.participants;
  const now = new Date();
  const { messageId, transactionId, bapId, bapUri } = JSON.parse(pull.body.toString()).context;
  const context = {
    ...{ version: '2.0.0', action: actions.onPull.name, messageId, transactionId, bapId, bapUri },
    ...{ timestamp: now.toISOString(), bppId: service.id, bppUri: service.url },
    requestDigest: { digest: bodyDigest(pull.body) },
  };
  const text = `{"context":${JSON.stringify(context)},"message":${message}}`;
  const body = mutateBytes(Buffer.from(text), bytes);
  const answering = parseSignatureHeader(pull.authorization).signature;
  const authorization = signRequest(service.key, body, { now, answering });
  const answer = await exchange(scene.urls.discovery, actions.onPull.path, {
    ...{ method: 'POST', body, headers: { authorization, 'x-request-id': id } },
  });
  if (!isAccepted(answer)) return judgeNack(answer);
  if (feed.pull === pull) feed.pull = undefined;
  return accepted;
}

interface Feed {
  /** A pull that waits for its answer. */
  pull: Sent | undefined;
}

const feeds = new WeakMap<Scene, Feed>();

/** Accepts every subscription, and acknowledges pulls. */
function feedOf(scene: Scene): Feed {
  const known = feeds.get(scene);
  if (known) return known;
  const feed: Feed = { pull: undefined };
  feeds.set(scene, feed);
  const subscriptionId = randomUUID();
  const at = new Date().toISOString();
  const answer = (action: string, message: object) => ({
    body: JSON.stringify({
      ...{
        context: {
          version: '2.0.0',
          action,
          messageId: randomUUID(),
          transactionId: randomUUID(),
          timestamp: at,
        },
      },
      message,
    }),
  });
  const subscription = {
    ...{ subscriptionId, status: 'ACTIVE', networkIds: [network], schemaTypes: [] },
    ...{ createdAt: at, updatedAt: at },
  };
  scene.sink.answer(actions.subscribe.path, () =>
    answer('catalog/on_subscription', { subscriptions: [subscription] }),
  );
  scene.sink.answer(actions.search.path, () =>
    answer('catalog/on_search', { catalogs: [], pagination: { total: 0, limit: 100, offset: 0 } }),
  );
  scene.sink.answer(actions.pull.path, (sent) => {
    feed.pull = sent;
    return undefined;
  });
  return feed;
}

/** Makes the discovery service pull now. */
async function awaitPull({ database }: Scene, feed: Feed): Promise<Sent> {
  await database.transaction(async (tx) => {
    await tx.query('update discovery.feed set pull_at = now(), due_at = now() where configured');
    tx.hint(feedTable);
  });
  // A download from the last answer may first have to time out.
  return until(() => feed.pull, 'a pull of the discovery service', 600_000);
}
