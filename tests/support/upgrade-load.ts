import { expect } from 'vitest';
import { type Action, actions } from '../../src/protocol/actions.ts';
import type { Actor } from './actor.ts';
import type { TestNetwork } from './network.ts';
import { smallCatalog } from './publisher.ts';
import { resource } from './small-catalogs.ts';
import { takeTime } from './time.ts';

// The load during a rolling upgrade: whoever gets no answer, or 503, sends the same bytes again; any other refusal fails the test.

interface LoadTarget {
  catalogUrl: string;
  discoveryUrl: string;
  triggerUrl: string;
}

export interface UpgradeReport {
  /** Requests that were acknowledged, and callbacks to them. */
  published: number;
  found: number;
  selfPublished: number;
  /** Answers of 503, which were asked again, and connections that broke. */
  unavailable: number;
  broken: number;
}

/** Publishers, a consumer and the trigger of a publisher, at work until `end` is called. */
export async function startLoad(network: TestNetwork, deployment: LoadTarget, publishers: number) {
  const report: UpgradeReport = { published: 0, found: 0, selfPublished: 0, unavailable: 0, broken: 0 };
  const others: string[] = [];
  let isOver = false;

  /** The same bytes until they are answered. */
  async function ask(send: () => Promise<Response>, what: string): Promise<Response> {
    for (;;) {
      const answer = await send().catch(() => undefined);
      if (answer?.status !== undefined && answer.status !== 503) {
        if (answer.status !== 200 && answer.status !== 202)
          others.push(`${what}: ${answer.status} ${await answer.clone().text()}`);
        return answer;
      }
      if (answer) report.unavailable++;
      else report.broken++;
      await answer?.arrayBuffer();
      await takeTime(100);
    }
  }
  const sendSigned = (actor: Actor, action: Action, message: object, base: string) => {
    const { body, authorization, messageId } = actor.sign(action, message);
    const send = () =>
      fetch(base + action.path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: new Uint8Array(body),
      });
    return ask(send, action.name).then((answer) => ({ status: answer.status, messageId }));
  };

  async function publish(actor: Actor, id: string): Promise<void> {
    for (let number = 1; !isOver; number++) {
      const catalog = { ...smallCatalog(id), resources: [resource('r1', `coffee ${number}`)] };
      const { messageId } = await sendSigned(
        actor,
        actions.publish,
        { catalogs: [catalog] },
        deployment.catalogUrl,
      );
      const { body } = await actor.waitFor('catalog/on_publish', messageId);
      expect(body.message.results).toMatchObject([{ catalogId: id, status: 'ACCEPTED' }]);
      report.published++;
    }
  }
  async function discover(actor: Actor): Promise<void> {
    while (!isOver) {
      const message = { intent: { textSearch: 'coffee' } };
      const { status, messageId } = await sendSigned(
        actor,
        actions.discover,
        message,
        deployment.discoveryUrl,
      );
      // Nothing may have been found yet.
      if (status !== 200) {
        await takeTime(100);
        continue;
      }
      await actor.waitFor('on_discover', messageId);
      report.found++;
    }
  }
  async function publishSelf(): Promise<void> {
    for (let number = 1; !isOver; number++) {
      const body = JSON.stringify({ message: { catalogs: [smallCatalog('hosted', [`coffee ${number}`])] } });
      const headers = { 'content-type': 'application/json' };
      await ask(
        () => fetch(`${deployment.triggerUrl}/catalog/publish`, { method: 'POST', headers, body }),
        'the trigger',
      );
      report.selfPublished++;
      await takeTime(200);
    }
  }
  const actors = await Promise.all(
    Array.from({ length: publishers }, (_, n) => network.actor(`provider-${n}`)),
  );
  const consumer = await network.actor('shopper');
  const running = Promise.all([
    ...actors.map((actor, n) => publish(actor, `catalog-${n}`)),
    discover(consumer),
    publishSelf(),
  ]);
  return {
    report,
    async end() {
      isOver = true;
      await running;
      expect(others).toEqual([]);
      expect(report.selfPublished).toBeGreaterThan(0);
    },
  };
}
