// Large bodies that stop shortly before their end, under the keyId of the honest client and a false signature.
import { forgedAuthorization } from '../attack-tools.mjs';
import { stall } from '../stalled-bodies.mjs';

export const behindProxy = true;

export const attack = (tools) => {
  const { shopper, roaster } = tools.people;
  let sent = 0;
  return stall(tools, () => {
    const { id } = sent++ % 2 === 0 ? shopper : roaster;
    return `authorization: ${forgedAuthorization(id)}\r\n`;
  });
};
