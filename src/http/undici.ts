import api from 'undici/lib/api/index.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

// The parts of undici that we use. Everything else imports them from here, and the build bundles them (build/vite.config.ts). These are modules of the package and
// not its index, which also has fetch, web sockets, mocks and caches, and takes a tenth of a second longer to load.

// Like the index: without it, an agent has only `dispatch`, without `request` and `stream`.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector };
