export { type CallCostName, type CallCosts, DEFAULT_COSTS } from './costs.js';
export { Host, type HostParts, type HostState, type HostStats } from './host.js';
export { HOST_PARAMETERS, type HostOptions } from './host-options.js';
