import { startTamperingProxy, type TamperingProxy } from '../hosted/tampering-proxy.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './network.ts';

export interface ProxiedNetwork {
  network: TestNetwork;
  /** Changes the registry's answers. */
  registry: TamperingProxy;
  close(): Promise<void>;
}

/** A crawled network whose services reach the registry through a proxy. */
export async function startBehindProxy(settings: Record<string, string> = {}): Promise<ProxiedNetwork> {
  const registry = await startTamperingProxy();
  const network = await startNetwork({
    settings: {
      DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
      REGISTRY_URL: `${registry.url}/dedi`,
      ...settings,
    },
  });
  registry.passTo(`http://127.0.0.1:${network.config.REGISTRY_PORT}`);
  return {
    network,
    registry,
    async close() {
      await network.close();
      await registry.stop();
    },
  };
}
