export { BlockLayer } from './block-layer/block-layer.js';
export { BLOCK_LAYER_PARAMETERS, type BlockLayerOptions } from './block-layer/options.js';
export type { BlockLayerProbe, BlockLayerStats } from './block-layer/probe.js';
export { type CallCostName, type CallCosts, COST_PARAMETERS, DEFAULT_COSTS } from './costs.js';
export { Host, type HostParts, type HostState, type HostStats } from './host.js';
export { HOST_PARAMETERS, type HostOptions } from './host-options.js';
