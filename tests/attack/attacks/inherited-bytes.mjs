// Small publishes whose resources all inherit a large template.
import { extendingMessage, masterMessage } from '../inherited-bytes.mjs';

export const settings = { MASTER_PUBLISHERS: 'mallory.attack.test' };

export async function attack({ catalogUrl, send, actions, keepDoing, underWay, pause }) {
  let sent = 0;
  const publish = async (message) => {
    const { status } = await send(catalogUrl, actions.publish, message, { side: 'bpp' });
    if (status !== 200) await pause(200);
  };
  await publish(masterMessage());
  underWay();
  await keepDoing(() => publish(extendingMessage(sent++ % 4, sent)), { concurrency: 2, perSecond: 2 });
}
