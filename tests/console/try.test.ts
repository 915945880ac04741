import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actionExamples } from '../../src/protocol/example-messages.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { until } from '../support/time.ts';

// "Try it out" on the API page: the console of a demo network signs and sends requests for its operator.

let the: TestConsole;
beforeAll(async () => {
  const demo = { city: { name: 'Bengaluru', center: [12.97, 77.59] as [number, number], zoom: 12 } };
  the = await startConsole({}, { ...demo, providerId: 'catalog.signpost.test', quietAbout: [] });
});
afterAll(() => the?.network.close());

const discover = {
  ...{ role: 'discovery', method: 'POST', path: '/discover' },
  body: actionExamples.discover.bodies.words.value,
};

describe('POST /api/try', () => {
  it('signs a request, sends it, and shows what was sent and who signed the answer', async () => {
    const { status, body } = await the.ask('/api/try', { body: discover });
    const { consumer, discovery } = the.network.config.identities;
    expect(status).toBe(200);
    expect(body.sent).toMatchObject({
      authorization: expect.stringContaining(`keyId="${consumer.id}|`),
      body: { context: { action: 'discover', bapId: consumer.id } },
    });
    expect(body.answer).toMatchObject({ status: 202, signer: discovery.id });
    expect(body.sent.curl).toMatch(/^curl -X POST 'http:\S+\/discover' -H 'authorization: Signature keyId=/);
    expect(body.sent.curl).toContain(`-d '${JSON.stringify(body.sent.body)}'`);
  });

  it('signs requests without a body, with their query', async () => {
    const path = '/catalog/subscription?status=ACTIVE';
    const { body } = await the.ask('/api/try', { body: { role: 'catalog', method: 'GET', path } });
    expect(body.answer).toMatchObject({ status: 200, body: { message: { subscriptions: [] } } });
  });

  it('publishes as the provider of the demo; what follows is shown like that of anybody', async () => {
    const publish = actionExamples.publish.bodies.publish.value;
    const asked = { role: 'catalog', method: 'POST', path: '/catalog/publish', body: publish };
    const { body } = await the.ask('/api/try', { body: asked });
    expect(body.answer).toMatchObject({ status: 200, body: { message: { status: 'ACK' } } });
    await until(async () => {
      const { body: found } = await the.ask('/api/try', { body: discover });
      return found.answer.status === 200 ? found : undefined;
    }, 'the published catalog to be found');
  });

  it('is the operator’s: without the token, nothing is signed', async () => {
    const response = await fetch(`${the.network.config.consoleUrl}/api/try`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(discover),
    });
    expect(response.status).toBe(401);
  });

  it.each([
    ['a callback', { role: 'discovery', method: 'POST', path: '/catalog/on_pull', body: {} }, 400],
    ['what is not signed', { role: 'catalog', method: 'GET', path: '/metrics' }, 404],
    ['another host', { role: 'catalog', method: 'GET', path: '//example.org/catalog/subscription' }, 404],
    ['a stranger’s name', { ...discover, as: 'nobody.example.org' }, 409],
  ])('does not sign %s', async (_, asked, status) => {
    expect((await the.ask('/api/try', { body: asked })).status).toBe(status);
  });
});

describe('the API page of the console', () => {
  it('shows the documents of catalog, discovery and registry, not of the publisher, and has signed requests go through the console', async () => {
    const { text } = await the.ask('/docs?role=catalog');
    expect(text).toContain('data-document="api/openapi/catalog" data-role="catalog" data-signed');
    expect(text).toContain('data-try="api/try"');
    for (const role of ['catalog', 'discovery', 'registry']) {
      const { body } = await the.ask(`/api/openapi/${role}`);
      expect(body.info.title).toBe(`Signpost ${role}`);
    }
    expect((await the.ask('/api/openapi/publisher')).status).toBe(404);
  });
});

describe('a console outside the demo', () => {
  it('signs nothing', async () => {
    const plain = await startConsole();
    try {
      expect((await plain.ask('/api/try', { body: discover })).status).toBe(404);
      expect((await plain.ask('/docs?role=catalog')).text).not.toContain('data-try');
    } finally {
      await plain.network.close();
    }
  });
});
