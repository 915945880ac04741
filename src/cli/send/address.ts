import { networkInterfaces } from 'node:os';
import { identityOf, splitIdentity } from '../../protocol/identity.ts';
import type { SigningKey } from '../../protocol/keys.ts';
import { type RegistryClient, RegistryUnavailable } from '../../registry/client.ts';
import { CommandError } from '../command.ts';
import type { ListenAddress } from './callback.ts';

export type OwnAddress = Awaited<ReturnType<typeof chooseAddress>>;

/** Callbacks must go to the origin of our registered address, so the command listens there if it is on this machine. By default, any port works. */
export async function chooseAddress(
  self: SigningKey,
  given: { uri?: string; listen?: ListenAddress },
  registry: RegistryClient,
  registryName: string,
) {
  const registered = await findRegisteredUrl(self, registry);
  const { namespace } = splitIdentity(identityOf(self.subscriberId, registryName));
  return {
    /** Pushes go to this address. */
    registered,
    /** The bapUri or bppUri if the command does not wait for the callback. */
    uri: given.uri ?? registered ?? `https://${namespace}`,
    /** Where to wait for the callback; throws if that is not on this machine. */
    listen(): ListenAddress {
      if (given.listen) return { ...given.listen, url: given.uri };
      if (registered === undefined) return { host: '127.0.0.1', port: 0, url: given.uri };
      const { protocol, hostname, port } = new URL(registered);
      const host = hostname.replace(/^\[|\]$/g, '');
      if (protocol === 'http:' && isOwnHost(host))
        return { host, port: Number(port || 80), url: given.uri ?? registered };
      throw new CommandError(
        `Callbacks to ${self.subscriberId} go to its registered address ${registered}, which is not on this machine. To wait for them ` +
          `here, let it forward to this machine, and give: --listen HOST:PORT --uri ${registered}`,
      );
    },
  };
}

async function findRegisteredUrl(self: SigningKey, registry: RegistryClient): Promise<string | undefined> {
  try {
    const record = await registry.lookup(self.subscriberId, self.recordId);
    return record?.url !== undefined && URL.canParse(record.url) ? record.url.replace(/\/+$/, '') : undefined;
  } catch (error) {
    // The receiver of the request will report the problem.
    if (error instanceof RegistryUnavailable) return undefined;
    throw error;
  }
}

function isOwnHost(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return true;
  return Object.values(networkInterfaces()).some((faces) => faces?.some(({ address }) => address === host));
}
