// Large bodies without Authorization that stop shortly before their end.
import { stall } from '../stalled-bodies.mjs';

export const behindProxy = true;

export const attack = (tools) => stall(tools, () => '');
