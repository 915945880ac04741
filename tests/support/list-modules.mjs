import { register } from 'node:module';

// Given to node by --import, it has every module that is loaded named on standard error, one line each.

register('./list-modules-hook.mjs', import.meta.url);
