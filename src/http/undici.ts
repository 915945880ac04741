/**
 * What we use of undici. Everything else imports it from here: the build bundles these two parts alone into this module (build/vite.config.ts), because the
 * whole of it takes a tenth of a second to load.
 */
export { Agent, buildConnector } from 'undici';
